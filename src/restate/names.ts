import { AgentError } from '../errors.ts';

/** How an agent's services are called in the engine. */
export interface Names {
  /** A virtual object: one for each session. */
  sessions: string;
  /** Runs what a session asks for: models, tools, checks. */
  effects: string;
}

const allowed = /^[a-zA-Z][a-zA-Z0-9_-]{0,99}$/;

/** Throws `invalid-option` for an agent whose name cannot be part of a service's. */
export const namesOf = (agent: string): Names => {
  if (!allowed.test(agent)) {
    throw new AgentError(
      'invalid-option',
      `an agent on Restate has a name of 1 to 100 letters, digits, "_" and "-", the first a letter; got ${JSON.stringify(agent)}`,
    );
  }
  return { sessions: `${agent}.sessions`, effects: `${agent}.effects` };
};
