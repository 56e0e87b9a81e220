import { AgentError } from '../errors.ts';
import type { Agent } from './agent.ts';
import type { SessionSource } from './own-session.ts';

/** What the sessions of an agent are made of, wherever they are kept and run. */
export interface AgentParts extends Pick<
  SessionSource,
  'machine' | 'agent' | 'now' | 'parseOutput' | 'forgetTools' | 'told' | 'authorize'
> {
  /** Something stands around its turns. */
  hasMiddleware: boolean;
}

const known = new WeakMap<object, AgentParts>();

export const keepParts = (agent: Agent, parts: AgentParts): void => {
  known.set(agent, parts);
};

/** Throws `invalid-option` for what `createAgent` did not make. */
export const partsOf = (agent: Agent, where: string): AgentParts => {
  const parts = typeof agent === 'object' && agent !== null ? known.get(agent) : undefined;
  if (parts !== undefined) return parts;
  throw new AgentError('invalid-option', `${where} takes agents that createAgent made`);
};
