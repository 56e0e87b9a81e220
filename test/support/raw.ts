import { type ActorRefFrom, type Snapshot, waitFor } from 'xstate';
import type { AgentMachine } from '../../src/machines/agent.ts';
import type { ModelRequest } from '../../src/models/chat-model.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';

export type AgentActor = ActorRefFrom<AgentMachine>;

/** A persisted snapshot after a trip through JSON text. */
export const saved = (actor: AgentActor): Snapshot<unknown> => JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));

/** Says yes to whatever waits until the agent rests. */
export const driveToRest = async (actor: AgentActor): Promise<void> => {
  for (;;) {
    const snapshot = await waitFor(actor, (now) => now.hasTag('waiting') || now.hasTag('settled'));
    if (snapshot.hasTag('settled')) return;
    for (const { callId, phase } of snapshot.context.round?.calls ?? []) {
      if (phase === 'awaiting-decision') actor.send({ type: 'approval.granted', callId });
      if (phase === 'awaiting-result') actor.send({ type: 'call.result', callId, output: 'by hand' });
    }
  }
};

/** A model without a memory: what it says depends on the request alone, so that it can be asked again after a restore. */
export const modelOf = (answer: (request: ModelRequest) => string | ScriptedReply) =>
  scriptedModel(Array.from({ length: 10_000 }, () => answer));

/** `first` until there is a result, then `last`. */
export const oneRound = (first: ScriptedReply, last = 'world') =>
  modelOf(({ messages }) => (messages.at(-1)?.role === 'tool' ? last : first));
