import { sseOpen } from '../../support/replay-server.ts';

export type Item = Record<string, unknown>;

export const message = (text: string, more: Item = {}): Item => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  ...more,
});

export const reasoning = (text: string, more: Item = {}): Item => ({
  id: 'rs_1',
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  ...more,
});

export const call = (name: string, args: string, callId = 'call_1', more: Item = {}): Item => ({
  id: `fc_${callId}`,
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name,
  arguments: args,
  ...more,
});

export const customCall = (name: string, input: string, callId = 'call_1'): Item => ({
  id: `ct_${callId}`,
  type: 'custom_tool_call',
  status: 'completed',
  call_id: callId,
  name,
  input,
});

/** A whole response. */
export const response = (output: Item[], more: Item = {}): Item => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'scripted',
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  ...more,
});

export const created = { type: 'response.created', response: response([], { status: 'in_progress', usage: null }) };
export const completed = (output: Item[], more: Item = {}): Item => ({
  type: 'response.completed',
  response: response(output, more),
});

export const added = (index: number, item: Item): Item => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
});
export const done = (index: number, item: Item): Item => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
});

/** One piece of a text; `name` as in `response.<name>.delta`. */
export const piece = (index: number, name: string, delta: string, more: Item = {}): Item => ({
  type: `response.${name}.delta`,
  output_index: index,
  delta,
  ...more,
});

const named = (event: Item | string): string =>
  typeof event === 'string' ? event : `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

/** An event stream as OpenAI writes it, without `[DONE]`. */
export const events = (...list: (Item | string)[]): string => sseOpen(...list.map(named));

/** A stream in which each item comes begun, then whole. */
export const streamed = (items: Item[], more: Item = {}): string =>
  events(
    created,
    ...items.flatMap((item, index) => [
      added(index, { ...item, content: undefined, arguments: undefined, input: undefined }),
      done(index, item),
    ]),
    completed(items, more),
  );
