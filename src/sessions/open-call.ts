import type { AnyActorRef } from 'xstate';
import type { AgentContext } from '../machines/agent-context.ts';
import { type CallRecord, ownerOf } from '../machines/round.ts';

const childOf = (actor: AnyActorRef | undefined, id: string): AnyActorRef | undefined =>
  (actor?.getSnapshot() as { children?: Record<string, AnyActorRef> } | undefined)?.children?.[id];

/** The call of the open round with this id, also in agents inside calls. */
export const openCallOf = (agent: AnyActorRef, callId: string): CallRecord | undefined => {
  const { context } = agent.getSnapshot() as { context: AgentContext };
  const owner = ownerOf(context.round, callId);
  if (owner === undefined || owner.callId === callId) return owner;
  const inside = childOf(childOf(agent, owner.callId), 'agent');
  return inside === undefined ? undefined : openCallOf(inside, callId);
};
