import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { CallResult } from '../../src/tools/call.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { runStreamed } from '../support/run.ts';
import { type call, calls } from '../support/tools.ts';

export interface CallsRan {
  /** In call order. */
  results: CallResult[];
  events: AgentEvent[];
}

/** One round of calls through a whole agent. */
export const runCalls = async (
  tools: readonly Tool[],
  toolCalls: ReturnType<typeof call>[],
  options: Partial<AgentOptions> = {},
): Promise<CallsRan> => {
  const model = scriptedModel([calls(...toolCalls), 'done']);
  const { events } = await runStreamed(createAgent({ model, tools, ...options }), 'go');
  model.assertFinished();
  const settled = events.filter((event) => event.type === 'tool-result');
  const results = settled.toSorted((a, b) => a.callId.localeCompare(b.callId)).map(({ result }) => result);
  return { results, events };
};

/** Resolves with the first event of that type. */
export const firstEvent = async <Type extends AgentEvent['type']>(
  events: AsyncIterable<AgentEvent>,
  type: Type,
): Promise<AgentEvent> => {
  for await (const event of events) if (event.type === type) return event;
  throw new Error(`no event ${type}`);
};
