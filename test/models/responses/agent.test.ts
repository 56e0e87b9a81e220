import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent, memoryStore, tool, type Message } from '../../../src/index.ts';
import { openaiChat } from '../../../src/models/openai/index.ts';
import {
  completion,
  type RecordedRequest,
  type ReplayServer,
  type ScriptedReply,
} from '../../support/replay-server.ts';
import { inBothModes } from '../../support/run.ts';
import { inputOf, modelOf, type Options, strictServer } from './ask.ts';
import { call, customCall, type Item, message, reasoning, response, streamed } from './events.ts';

/** What a server says, whole or streamed, as it was asked. */
const saying =
  (id: string, ...output: Item[]) =>
  ({ body }: RecordedRequest): ScriptedReply =>
    body['stream'] === true ? { body: streamed(output, { id }) } : { json: response(output, { id }) };

const add = tool({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const typesOf = (request: RecordedRequest | undefined): unknown[] =>
  inputOf(request).map((item) => item['type'] ?? item['role']);

const adding = (n: number): Item => call('add', `{"a":${n},"b":1}`, `call_${n}`);
const thought = (n: number): Item => reasoning(`thought ${n}`, { id: `rs_${n}`, encrypted_content: `E${n}` });
const answer = (text: string, id = 'msg_1'): Item => message(text, { id });

inBothModes('an agent on Responses', (run) => {
  test('R44: thoughts go back before the calls that they belong to, round after round', async () => {
    await using server = await strictServer([
      saying('resp_1', thought(1), adding(1)),
      saying('resp_2', thought(2), adding(2)),
      saying('resp_3', thought(3), answer('five')),
      saying('resp_4', answer('still five', 'msg_2')),
    ]);
    const agent = createAgent({ model: modelOf(server, { store: false }), tools: [add], store: memoryStore() });
    const { result, session } = await run(agent, 'go');
    expect(result.text).toBe('five');
    // Another agent, from the session's text.
    const document = JSON.parse(JSON.stringify(session.toJSON()));
    const other = createAgent({ model: modelOf(server, { store: false }), tools: [add] });
    const again = await run(other, 'sure?', { session: document });
    expect(again.result.text).toBe('still five');
    const items = inputOf(server.requests[3]);
    const outputs = [2, 3].map((sum, index) => ({
      type: 'function_call_output',
      call_id: `call_${index + 1}`,
      output: String(sum),
    }));
    expect(items).toEqual([
      { role: 'user', content: 'go' },
      thought(1),
      adding(1),
      outputs[0],
      thought(2),
      adding(2),
      outputs[1],
      thought(3),
      { ...answer('five'), content: [{ type: 'output_text', annotations: [], text: 'five' }] },
      { role: 'user', content: 'sure?' },
    ]);
  });

  test('R9: what the provider ran is shown, not run, and goes back as it was', async () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { query: 'q' } };
    await using server = await strictServer([saying('resp_1', search, adding(1)), saying('resp_2', answer('two'))]);
    const model = modelOf(server, { providerTools: [{ type: 'web_search' }] });
    const { result } = await run(createAgent({ model, tools: [add] }), 'go');
    expect(result.text).toBe('two');
    expect(inputOf(server.requests[1]).slice(1)).toMatchObject([search, adding(1), { output: '2' }]);
    expect(result.messages.find(({ role }) => role === 'assistant')?.content).toMatchObject([
      { type: 'tool-call', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-result', toolName: 'web_search', output: { type: 'json' } },
      { type: 'tool-call', toolName: 'add' },
    ]);
    const ran = result.messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
    expect(ran).toMatchObject([{ toolName: 'add' }]);
  });

  test('a custom tool is run with the free text', async () => {
    await using server = await strictServer([
      saying('resp_1', customCall('sql', 'SELECT 1')),
      saying('resp_2', answer('one')),
    ]);
    const sql = tool({
      name: 'sql',
      description: 'Runs SQL.',
      inputSchema: z.object({ input: z.string() }),
      execute: ({ input }) => `ran ${input}`,
    });
    const providerTools = [{ type: 'custom', name: 'sql' }];
    const { result } = await run(createAgent({ model: modelOf(server, { providerTools }), tools: [sql] }), 'go');
    expect(result.text).toBe('one');
    expect(server.requests[0]?.body).toMatchObject({ tools: providerTools });
    expect(inputOf(server.requests[1]).slice(1)).toEqual([
      customCall('sql', 'SELECT 1'),
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'ran SELECT 1' },
    ]);
  });

  test('R42: a refusal is an outcome', async () => {
    const content = [{ type: 'refusal', refusal: 'I cannot help with that.' }];
    await using server = await strictServer([saying('resp_1', message('', { content }))]);
    const { result } = await run(createAgent({ model: modelOf(server) }), 'go');
    expect(result.outcome).toMatchObject({ type: 'refused', reason: 'I cannot help with that.' });
  });

  const kept: Options = { previousResponse: 'auto' };

  test('previousResponse: only what is new is sent, through save and load', async () => {
    await using server = await strictServer([
      saying('resp_1', thought(1), adding(1)),
      saying('resp_2', answer('two')),
      saying('resp_3', answer('sure', 'msg_2')),
    ]);
    const options = { model: modelOf(server, kept), tools: [add], instructions: 'Be short.' };
    const { session } = await run(createAgent(options), 'go');
    const document = JSON.parse(JSON.stringify(session.toJSON()));
    await run(createAgent(options), 'sure?', { session: document });
    expect(server.requests.map(({ body }) => [body['store'], body['previous_response_id']])).toEqual([
      [true, undefined],
      [true, 'resp_1'],
      [true, 'resp_2'],
    ]);
    expect(server.requests.map(typesOf)).toEqual([['user'], ['function_call_output'], ['user']]);
    expect(server.requests.every(({ body }) => body['instructions'] === 'Be short.')).toBe(true);
  });

  test('previousResponse: another provider in between, and the history goes whole', async () => {
    await using server = await strictServer([
      saying('resp_1', answer('one')),
      { json: completion({ content: 'between' }) },
      saying('resp_3', answer('three', 'msg_3')),
      saying('resp_4', answer('four', 'msg_4')),
    ]);
    const agentOf = (model = modelOf(server, kept)) => createAgent({ model });
    let session = JSON.parse(JSON.stringify((await run(agentOf(), '1')).session.toJSON()));
    const chat = openaiChat({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key' });
    session = (await run(agentOf(whole(chat)), '2', { session })).session.toJSON();
    session = (await run(agentOf(), '3', { session })).session.toJSON();
    await run(agentOf(), '4', { session });
    expect(server.requests[1]?.raw).not.toContain('resp_1');
    expect(server.requests[2]?.body).not.toHaveProperty('previous_response_id');
    expect(typesOf(server.requests[2])).toEqual(['user', 'message', 'user', 'assistant', 'user']);
    expect(server.requests[3]?.body).toMatchObject({ previous_response_id: 'resp_3' });
    expect(typesOf(server.requests[3])).toEqual(['user']);
  });
});

/** The same model, whole replies only. */
const whole = ({ stream: _stream, ...model }: ReturnType<typeof openaiChat>): ReturnType<typeof openaiChat> => model;

describe('previousResponse', () => {
  const kept: Options = { previousResponse: 'auto' };
  const signal = new AbortController().signal;
  const user = (content: string): Message => ({ role: 'user', content });
  const asked = async (server: ReplayServer, messages: readonly Message[], options: Options = kept) => {
    const { message: reply } = await modelOf(server, options).generate({ messages }, { signal });
    return [...messages, JSON.parse(JSON.stringify(reply))];
  };
  const replies = [saying('resp_1', reasoning('hm'), answer('one')), saying('resp_2', answer('two', 'msg_2'))];

  test('an edited, cut or longer history goes whole', async () => {
    const changes: ((history: Message[]) => Message[])[] = [
      ([first, ...rest]) => [...(first === undefined ? [] : [user('changed')]), ...rest],
      (history) => history.slice(1),
      (history) => [user('before'), ...history],
      (history) => history.map((each) => JSON.parse(JSON.stringify(each).replace('"one"', '"won"'))),
    ];
    for (const change of changes) {
      await using server = await strictServer(replies);
      const history = change(await asked(server, [user('a')]));
      await asked(server, [...history, user('b')]);
      expect(server.requests[1]?.body).not.toHaveProperty('previous_response_id');
      expect(inputOf(server.requests[1])).toHaveLength(history.length + 2);
    }
    await using server = await strictServer(replies);
    await asked(server, [...(await asked(server, [user('a')])), user('b')]);
    expect(server.requests[1]?.body).toMatchObject({ previous_response_id: 'resp_1' });
  });

  test('a switch to client history, and back, goes whole', async () => {
    await using server = await strictServer([...replies, saying('resp_3', answer('three', 'msg_3'))]);
    const first = await asked(server, [user('a')]);
    const second = await asked(server, [...first, user('b')], { store: false });
    expect(server.requests[1]?.body).not.toHaveProperty('previous_response_id');
    expect(typesOf(server.requests[1])).toEqual(['user', 'message', 'user']);
    await asked(server, [...second, user('c')]);
    expect(server.requests[2]?.body).not.toHaveProperty('previous_response_id');
  });

  test('off by default, also where the server keeps the reply', async () => {
    await using server = await strictServer(replies);
    const first = await asked(server, [user('a')], { store: true });
    await asked(server, [...first, user('b')], { store: true });
    expect(server.requests[1]?.body).not.toHaveProperty('previous_response_id');
  });

  test('a reply that the server has forgotten: the history goes whole, with nothing to look up', async () => {
    const error = { message: "Previous response with id 'resp_1' not found.", code: 'previous_response_not_found' };
    await using server = await strictServer([
      saying('resp_1', reasoning('hm'), answer('one')),
      { status: 400, json: { error } },
      saying('resp_3', answer('two', 'msg_2')),
      saying('resp_4', answer('three', 'msg_3')),
    ]);
    const first = await asked(server, [user('a')]);
    const second = await asked(server, [...first, user('b')]);
    expect(server.requests).toHaveLength(3);
    expect(inputOf(server.requests[2])).toMatchObject([{ content: 'a' }, { type: 'message' }, { content: 'b' }]);
    expect(inputOf(server.requests[2])[1]).not.toHaveProperty('id');
    await asked(server, [...second, user('c')]);
    expect(server.requests[3]?.body).toMatchObject({ previous_response_id: 'resp_3' });
  });
});
