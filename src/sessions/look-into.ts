import type { ActorRefFrom } from 'xstate';
import { snapshotOf } from '../documents/document.ts';
import type { StoredAgent } from '../documents/stored-agent.ts';
import { AgentError } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import type { Round } from '../machines/round.ts';
import type { SessionStore } from '../stores/store.ts';
import type { Agent } from './agent.ts';
import { createAgent } from './create-agent.ts';
import { documentAt } from './load-stored.ts';
import { restoreActor } from './restore-actor.ts';

/** The agents inside of calls, by the names of their tools. */
const agentsInside = (agents: readonly StoredAgent[]): Map<string, StoredAgent[]> => {
  const found = new Map<string, StoredAgent[]>();
  for (const { calls = {}, context } of agents) {
    const round = context['round'] as Round | null | undefined;
    for (const [callId, { agent }] of Object.entries(calls)) {
      const tool = round?.calls.find((each) => each.callId === callId)?.tool;
      if (agent !== undefined && tool !== undefined) found.set(tool, [...(found.get(tool) ?? []), agent]);
    }
  }
  return found;
};

/** An agent that can do nothing, with the charts that these need. */
const viewerOf = (agents: readonly StoredAgent[]): Agent =>
  createAgent({
    model: { name: 'none', generate: () => Promise.reject(new AgentError('read-only', 'it only looks')) },
    tools: [...agentsInside(agents)].map(([name, inside]) => viewerOf(inside).asTool({ name, description: name })),
  });

/**
 * Looks at a store's sessions as they were at a revision, by actors that never start; the agents that wrote them are not needed, nothing
 * runs and nothing is claimed. Rejects with `unknown-session`, `unknown-revision`, or where what is stored cannot be read.
 */
export const lookInto = (store: SessionStore) => {
  const plain = viewerOf([]);
  return async (sessionId: string, revision: number): Promise<ActorRefFrom<AgentMachine>> => {
    const document = await documentAt(store, sessionId, revision);
    const { machine } = agentsInside([document.state]).size === 0 ? plain : viewerOf([document.state]);
    return restoreActor(machine, snapshotOf(machine, document, 'messages'));
  };
};
