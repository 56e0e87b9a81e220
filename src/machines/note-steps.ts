import type { CompactionNote, RequestNotes } from '../actors/request-notes.ts';
import type { Told } from '../actors/wake.ts';
import type { Message } from '../messages/message.ts';
import { repairHistory } from '../messages/history.ts';
import { addUsage } from '../messages/usage.ts';
import type { AgentContext } from './agent-context.ts';
import { type Step, changeTurn } from './step.ts';

/** What context providers want the session to keep stands behind what the turn was asked: a history only grows at its end. */
const keepMessages = (context: AgentContext, given: readonly Message[]): AgentContext => ({
  ...context,
  messages: repairHistory([...context.messages, ...given]),
  ...changeTurn(context, { keepsContext: true }),
});

const countCompaction = (context: AgentContext, { memory, calls }: CompactionNote): AgentContext => {
  const { number } = context.turn;
  const counted = calls.reduce((before, { usage }) => addUsage(before, usage), context.turn.usage);
  return {
    ...context,
    ...(memory === undefined ? {} : { compaction: memory }),
    modelCalls: [
      ...context.modelCalls,
      ...calls.map((call) => ({
        turn: number,
        finishReason: 'stop' as const,
        purpose: 'compaction' as const,
        ...call,
      })),
    ],
    usage: calls.reduce((before, { usage }) => addUsage(before, usage), context.usage),
    ...changeTurn(context, { usage: counted }),
  };
};

/** Takes into the session what came about while a request was made, before the reply to it. */
export const takeNotes = (
  before: AgentContext,
  { toolChanges = [], messages, compaction }: RequestNotes,
): AgentContext => {
  const known = new Set(before.turn.toolChanges.map(({ toolKey }) => toolKey));
  const added = toolChanges.filter(({ toolKey }) => !known.has(toolKey));
  const context =
    added.length === 0
      ? before
      : { ...before, ...changeTurn(before, { toolChanges: [...added, ...before.turn.toolChanges] }) };
  const kept = messages === undefined ? context : keepMessages(context, messages);
  return compaction === undefined ? kept : countCompaction(kept, compaction);
};

/** Everybody knows that the turn is over, and a history provider has what the session has. */
export const noteTold = ({ turn, elsewhere }: AgentContext, { turn: number, handed }: Told): Step => {
  const { untold: _told, ...rest } = turn;
  const before = elsewhere?.before ?? 0;
  return {
    // A message to a failed turn begins the next one at once.
    ...(number === turn.number ? { turn: rest } : {}),
    ...(handed === undefined ? {} : { elsewhere: { before, handed: handed - before } }),
  };
};
