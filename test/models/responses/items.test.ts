import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message } from '../../../src/messages/message.ts';
import { partsOf } from '../../../src/messages/message.ts';
import { callsIn, callParts } from '../ask.ts';
import { calling, result, round, user } from '../sent.ts';
import { ask, askStreamed, inputOf, itemsOf, key, type Options, played, strictServer } from './ask.ts';
import { call, customCall, type Item, message, reasoning, response, streamed } from './events.ts';

const text = (value: string) => ({ type: 'text' as const, value });

/** The items that request 2 carries for the reply to request 1, after that reply was saved and loaded. */
const echoed = async (output: Item[], first: Options = {}, second: Options = first): Promise<unknown[]> => {
  const found: unknown[][] = [];
  for (const reply of [{ json: response(output) }, { body: streamed(output) }]) {
    await using server = await strictServer([reply, { json: response([message('ok')]) }]);
    const answer = 'json' in reply ? await ask(server, {}, first) : (await askStreamed(server, {}, first)).reply;
    const stored: AssistantMessage = JSON.parse(JSON.stringify(answer.message));
    const own = callParts(answer).filter((part) => part.providerExecuted !== true);
    const results = own.map((part) => result(text('x'), part.toolCallId, part.toolName));
    await ask(server, { messages: [user, stored, ...results, user] }, second);
    found.push(inputOf(server.requests[1]).slice(1, -1));
  }
  expect(found[0]).toEqual(found[1]);
  return found[0] ?? [];
};

const bare = (item: Item, ...keys: string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !keys.includes(name)));
const said = (item: Item, value: string): Item => ({
  ...item,
  content: [{ type: 'output_text', annotations: [], text: value }],
});
const output = (callId = 'call_1', type = 'function_call_output'): Item => ({ type, call_id: callId, output: 'x' });

describe('what is echoed', () => {
  const thought = reasoning('hm', { encrypted_content: 'E' });

  test('R44: thoughts, text and calls as the items that they were, in their order', async () => {
    const second = reasoning('so', { id: 'rs_2', encrypted_content: 'F' });
    const items = [thought, call('f', '{"a":1}'), second, message('hi'), call('g', '{}', 'call_2')];
    const sentBack = [thought, call('f', '{"a":1}'), second, said(message(''), 'hi'), call('g', '{}', 'call_2')];
    for (const store of [undefined, true, false]) {
      const options = store === undefined ? {} : { store };
      expect(await echoed(items, options)).toEqual([...sentBack, output(), output('call_2')]);
    }
  });

  test('R44: phase, annotations and fields that we do not know', async () => {
    const content = [
      { type: 'output_text', text: 'a', annotations: [{ type: 'url_citation', url: 'https://a' }], note: 1 },
      { type: 'output_text', text: 'b', annotations: [] },
    ];
    const items = [
      message('', { phase: 'commentary', content }),
      call('f', '{}', 'call_1', { namespace: 'n' }),
      { id: 'x_1', type: 'x', deep: { a: [1] }, empty: [], nothing: null },
    ];
    const [first, second, third] = items;
    expect(await echoed(items)).toEqual([first, second, bare(third ?? {}, 'nothing'), output()]);
  });

  test('R44: never to another provider', async () => {
    const items = [thought, { id: 'x_1', type: 'x' }, message('hi', { phase: 'final' }), call('f', '{}')];
    expect(await echoed(items, {}, { provider: 'other' })).toEqual([
      { role: 'assistant', content: 'hi' },
      bare(call('f', '{}'), 'id', 'status'),
      output(),
    ]);
  });

  test('thoughts that cannot go back take the ids of what followed with them', async () => {
    const items = [reasoning('hm'), message('hi'), call('f', '{}')];
    const cut = [bare(said(message(''), 'hi'), 'id'), bare(call('f', '{}'), 'id'), output()];
    expect(await echoed(items, { store: false })).toEqual(cut);
    expect(await echoed([thought, ...items.slice(1)], { echoReasoning: false })).toEqual(cut);
    expect(await echoed(items)).toEqual([reasoning('hm'), said(message(''), 'hi'), call('f', '{}'), output()]);
    const open = reasoning('', { content: [{ type: 'reasoning_text', text: 'hm' }] });
    expect(await echoed([open, message('hi')], { store: false })).toEqual([open, said(message(''), 'hi')]);
  });

  test('a message without content, and a refusal, go back as they were', async () => {
    const refusing = message('', { content: [{ type: 'refusal', refusal: 'no' }] });
    const empty = message('', { id: 'msg_2', content: [] });
    expect(await echoed([thought, empty, refusing])).toEqual([thought, empty, refusing]);
  });

  test('a text that was edited goes out as edited', async () => {
    const [stored] = [(await played({ json: response([message('hi')]) })).reply.message];
    const parts = partsOf(stored).map((part) => (part.type === 'text' ? { ...part, text: 'ho' } : part));
    const edited: Message = JSON.parse(JSON.stringify({ ...stored, content: parts }));
    expect(await itemsOf([user, edited, user])).toMatchObject([{}, said(message(''), 'ho'), {}]);
  });
});

describe('custom tools', () => {
  test('the free text of a call is shown as input, and goes back as free text', async () => {
    const items = [customCall('sql', 'SELECT 1')];
    const { reply } = await played({ json: response(items) });
    expect(callsIn(reply)).toEqual([['call_1', 'sql', { input: 'SELECT 1' }]]);
    expect(reply.finishReason).toBe('tool-calls');
    expect(await echoed(items)).toEqual([...items, output('call_1', 'custom_tool_call_output')]);
  });

  test('R44: another provider gets an ordinary call', async () => {
    expect(await echoed([customCall('sql', 'SELECT 1')], {}, { provider: 'other' })).toEqual([
      { type: 'function_call', call_id: 'call_1', name: 'sql', arguments: '{"input":"SELECT 1"}' },
      output(),
    ]);
  });
});

describe('R9: tools that the provider ran', () => {
  const run: [string, Item, string, unknown, unknown][] = [
    [
      'a search',
      { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
      'web_search',
      { action: { type: 'search', query: 'q' } },
      { type: 'json', value: { status: 'completed' } },
    ],
    [
      'a search in files',
      { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['q'], results: [{ text: 't' }] },
      'file_search',
      { queries: ['q'] },
      { type: 'json', value: { status: 'completed', results: [{ text: 't' }] } },
    ],
    [
      'code',
      { id: 'ci_1', type: 'code_interpreter_call', status: 'failed', code: '1/0', container_id: 'c', outputs: [] },
      'code_interpreter',
      { code: '1/0', container_id: 'c' },
      { type: 'error-json', value: { status: 'failed' } },
    ],
    [
      'MCP',
      { id: 'mcp_1', type: 'mcp_call', server_label: 's', name: 'roll', arguments: '{"n":6}', output: '4' },
      'roll',
      { n: 6 },
      { type: 'text', value: '4' },
    ],
    [
      'MCP that failed',
      { id: 'mcp_1', type: 'mcp_call', server_label: 's', name: 'roll', arguments: '{}', error: 'no dice' },
      'roll',
      {},
      { type: 'error-text', value: 'no dice' },
    ],
    [
      'an image',
      { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'AAAA', output_format: 'webp' },
      'image_generation',
      {},
      { type: 'content', value: [{ type: 'image-data', data: 'AAAA', mediaType: 'image/webp' }] },
    ],
    [
      'a tool that we do not know',
      { id: 'ab_1', type: 'astrology_call', status: 'completed', sign: 'leo' },
      'astrology',
      {},
      { type: 'json', value: { status: 'completed', sign: 'leo' } },
    ],
  ];

  test.each(run)('%s is shown with its result, and goes back as it was', async (_name, item, toolName, input, out) => {
    const { reply } = await played({ json: response([item, message('so')]) });
    const toolCallId = item['id'];
    expect(reply.message.content).toMatchObject([
      { type: 'tool-call', toolCallId, toolName, input, providerExecuted: true },
      { type: 'tool-result', toolCallId, toolName, output: out },
      { type: 'text', text: 'so' },
    ]);
    expect(reply.finishReason).toBe('stop');
    expect(await echoed([item, message('so')])).toEqual([item, said(message(''), 'so')]);
  });

  test('an image is kept once', async () => {
    const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'A'.repeat(100) };
    const { reply } = await played({ json: response([item]) });
    expect(JSON.stringify(reply.message).split('A'.repeat(100))).toHaveLength(2);
  });

  test('R44: another provider gets a call and its output', async () => {
    const item = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { query: 'q' } };
    expect(await echoed([item, message('so')], {}, { provider: 'other' })).toEqual([
      { type: 'function_call', call_id: 'ws_1', name: 'web_search', arguments: '{"action":{"query":"q"}}' },
      { type: 'function_call_output', call_id: 'ws_1', output: '{"status":"completed"}' },
      { role: 'assistant', content: 'so' },
    ]);
  });

  test('a call that is for the application to run in the provider’s own way is kept, not shown as run', async () => {
    const item = { id: 'sh_1', type: 'shell_call', call_id: 'call_9', action: { commands: ['ls'] } };
    const { reply } = await played({ json: response([item]) });
    expect(reply.message.content).toEqual([{ type: 'reasoning', text: '', providerOptions: { [key]: { item } } }]);
  });
});

describe('messages that go out', () => {
  test('text, system messages and rounds of other providers', async () => {
    const system: Message = { role: 'system', content: 'S' };
    expect(await itemsOf([system, ...round({ a: 1 }), { role: 'assistant', content: 'five' }, user])).toEqual([
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      { role: 'assistant', content: 'five' },
      { role: 'user', content: 'go' },
    ]);
  });

  test('R17: arguments are always the text of an object, names what servers take', async () => {
    expect(await itemsOf([user, calling('{"a":', 'c1', 'a b'), result(text('x'), 'c1', 'a b')])).toMatchObject([
      {},
      { name: 'a_b', arguments: '{"unreadable_arguments":"{\\"a\\":"}' },
      {},
    ]);
  });

  test('calls without an id get one, and their results the same', async () => {
    const calls = calling({}, '', 'f');
    const content = [...partsOf(calls), ...partsOf(calling({}, '', 'g'))];
    const both: Message = JSON.parse(JSON.stringify({ ...calls, content }));
    const results: Message = {
      role: 'tool',
      content: ['f', 'g'].map((toolName) => ({
        type: 'tool-result',
        toolCallId: '',
        toolName,
        output: text(toolName),
      })),
    };
    const items: Item[] = JSON.parse(JSON.stringify(await itemsOf([user, both, results])));
    const [, first, second, ...outputs] = items;
    expect(first?.['call_id']).not.toBe(second?.['call_id']);
    expect(outputs).toEqual([
      { type: 'function_call_output', call_id: first?.['call_id'], output: 'f' },
      { type: 'function_call_output', call_id: second?.['call_id'], output: 'g' },
    ]);
  });

  test('R15: results as text; images and files of results as a list', async () => {
    const outputs: [Parameters<typeof result>[0], unknown][] = [
      [{ type: 'json', value: { a: 1 } }, '{"a":1}'],
      [{ type: 'error-text', value: 'Error: no.' }, 'Error: no.'],
      [{ type: 'execution-denied', reason: 'no' }, 'Tool call invocation rejected. no'],
      [{ type: 'content', value: [{ type: 'text', text: 'a' }] }, 'a'],
      [
        {
          type: 'content',
          value: [
            { type: 'text', text: 'a' },
            { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
            { type: 'file-data', data: 'BBBB', mediaType: 'application/pdf', filename: 'b.pdf' },
          ],
        },
        [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_file', filename: 'b.pdf', file_data: 'data:application/pdf;base64,BBBB' },
        ],
      ],
    ];
    for (const [given, wanted] of outputs) {
      expect(await itemsOf(round({}, given))).toMatchObject([{}, {}, { output: wanted }]);
    }
  });

  test('images, documents and audio of a user', async () => {
    const file = (data: string, mediaType: string, more = {}) => ({ type: 'file' as const, data, mediaType, ...more });
    const content = [
      { type: 'text' as const, text: 'look' },
      file('AAAA', 'image/*'),
      file('https://a/b.png', 'image/png', { providerOptions: { [key]: { detail: 'low' } } }),
      file('AAAA', 'application/pdf', { filename: 'a.pdf' }),
      file('https://a/b.pdf', 'application/pdf'),
      file('AAAA', 'audio/mpeg'),
      file('', 'application/pdf', { providerOptions: { [key]: { file_id: 'file_1' } } }),
    ];
    expect(await itemsOf([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/jpeg;base64,AAAA' },
          { type: 'input_image', detail: 'low', image_url: 'https://a/b.png' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'input_file', file_url: 'https://a/b.pdf' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
          { type: 'input_file', file_id: 'file_1' },
        ],
      },
    ]);
    expect(await itemsOf([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])).toEqual([
      { role: 'user', content: 'hi' },
    ]);
  });

  test('B139: lone surrogates do not go out', async () => {
    expect(await itemsOf([{ role: 'user', content: 'a\ud800b' }])).toEqual([{ role: 'user', content: 'a\ufffdb' }]);
  });
});
