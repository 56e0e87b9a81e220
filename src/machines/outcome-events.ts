import type { ModelOutcome } from '../actors/model.ts';
import { addUsage } from '../messages/usage.ts';
import type { AgentContext } from './agent-context.ts';
import type { ChartEvent } from './chart-event.ts';

/** What the chart says of a model call that is over; `context` is that before it. */
export const outcomeEvents = ({ turn, usage: before }: AgentContext, outcome: ModelOutcome): ChartEvent[] => {
  const events: ChartEvent[] = [];
  const { compaction } = outcome.notes ?? {};
  for (const error of compaction?.errors ?? []) events.push({ type: 'error', error });
  if (compaction !== undefined && compaction.by.length > 0)
    events.push({ type: 'compaction', by: compaction.by, before: compaction.before, after: compaction.after });
  let total = before;
  for (const { usage } of compaction?.calls ?? []) {
    if (usage === undefined) continue;
    total = addUsage(total, usage);
    events.push({ type: 'usage', usage, total });
  }
  if (outcome.type === 'error') return events;
  const { finishReason, usage, model = outcome.model } = outcome.reply;
  events.push({ type: 'step-finish', iteration: turn.iterations + 1, finishReason, model });
  if (usage !== undefined) events.push({ type: 'usage', usage, total: addUsage(total, usage) });
  return events;
};
