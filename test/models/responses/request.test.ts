import { OpenAI } from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openaiResponses, type OpenAIResponsesOptions } from '../../../src/models/openai/index.ts';
import { startReplayServer } from '../../support/replay-server.ts';
import { textOf } from '../../../src/messages/message.ts';
import { callsIn, thrownBy } from '../ask.ts';
import { f, round, user } from '../sent.ts';
import { ask, askStreamed, modelOf, sent } from './ask.ts';
import { call, message, response, streamed } from './events.ts';

beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY', 'OPENAI_BASE_URL']) vi.stubEnv(name, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the body', () => {
  test('R14: no tools, no key; and none of what needs tools', async () => {
    for (const tools of [{}, { tools: [] }]) {
      const body = await sent({ ...tools, toolChoice: 'required', settings: { parallelToolCalls: false } });
      expect(body).toEqual({ model: 'scripted', input: [{ role: 'user', content: 'hello' }] });
    }
  });

  test('instructions, else the system messages of the history', async () => {
    const messages = [{ role: 'system' as const, content: 'stored' }, user];
    expect(await sent({ messages, instructions: 'S' })).toMatchObject({ instructions: 'S' });
    expect(await sent({ messages })).toMatchObject({ instructions: 'stored' });
    expect(await sent({})).not.toHaveProperty('instructions');
  });

  test('tools, the choice of one, and parallel calls', async () => {
    const wire = { type: 'function', name: 'f', description: 'does f', parameters: f.inputSchema, strict: false };
    expect(await sent({ tools: [f], toolChoice: { tool: 'f' }, settings: { parallelToolCalls: false } })).toMatchObject(
      {
        tools: [wire],
        tool_choice: { type: 'function', name: 'f' },
        parallel_tool_calls: false,
      },
    );
    expect(await sent({ tools: [f], toolChoice: 'none' })).toMatchObject({ tool_choice: 'none' });
    expect(Object.keys(await sent({ tools: [f] })).toSorted()).toEqual(['input', 'model', 'tools']);
  });

  test('B59: strict tools where the schema allows it; nulls of optional fields do not reach the tool', async () => {
    const inputSchema = {
      type: 'object',
      properties: { q: { type: 'string' }, n: { type: 'number' } },
      required: ['q'],
    };
    const open = { name: 'open', inputSchema: { type: 'object', additionalProperties: { type: 'string' } } };
    const tools = [{ name: 'search', inputSchema }, open];
    expect(await sent({ tools }, { strict: true })).toMatchObject({
      tools: [
        { name: 'search', strict: true, parameters: { required: ['q', 'n'] } },
        { name: 'open', strict: false },
      ],
    });
    await using server = await startReplayServer([{ json: response([call('search', '{"q":"a","n":null}')]) }]);
    expect(callsIn(await ask(server, { tools }, { strict: true }))).toEqual([['call_1', 'search', { q: 'a' }]]);
  });

  test('tools of the provider are always sent; a custom one in place of the tool of its name', async () => {
    const search = { type: 'web_search', user_location: { type: 'approximate' } };
    const sql = { type: 'custom', name: 'sql', format: { type: 'text' } };
    const providerTools = [search, sql];
    expect(await sent({ toolChoice: 'none' }, { providerTools })).toMatchObject({
      tools: [search],
      tool_choice: 'none',
    });
    const tools = [f, { name: 'sql', inputSchema: { type: 'object' } }];
    const body = await sent({ tools, toolChoice: { tool: 'sql' } }, { providerTools });
    expect(body['tools']).toEqual([expect.objectContaining({ name: 'f' }), sql, search]);
    expect(body['tool_choice']).toEqual({ type: 'custom', name: 'sql' });
    expect(await sent({ tools, toolChoice: { tool: 'web_search' } }, { providerTools })).toMatchObject({
      tool_choice: { type: 'web_search' },
    });
  });

  test('settings are mapped; provider options go into the body and win', async () => {
    const settings = {
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 10,
      seed: 1,
      stopSequences: ['x'],
      providerOptions: { temperature: 1, reasoning: { effort: 'low' } },
    };
    expect(await sent({ settings })).toEqual({
      model: 'scripted',
      input: [{ role: 'user', content: 'hello' }],
      temperature: 1,
      top_p: 0.5,
      max_output_tokens: 10,
      reasoning: { effort: 'low' },
    });
  });

  test('output becomes a text format, beside the verbosity', async () => {
    const output = { name: 'weather', schema: { type: 'object', properties: { t: { type: 'number' } } } };
    const format = { type: 'json_schema', name: 'weather', schema: output.schema };
    expect(await sent({ output })).toMatchObject({ text: { format } });
    const settings = { providerOptions: { text: { verbosity: 'low' } } };
    expect(await sent({ output, settings })).toMatchObject({ text: { format, verbosity: 'low' } });
    expect(await sent({ settings })).toMatchObject({ text: { verbosity: 'low' } });
  });

  test('strict output: the text of the answer is as the schema of the caller knows it', async () => {
    const schema = { type: 'object', properties: { q: { type: 'string' }, n: { type: 'number' } }, required: ['q'] };
    await using server = await startReplayServer([{ json: response([message('{"q":"a","n":null}')]) }]);
    const reply = await ask(server, { output: { name: 'o', schema } }, { strict: true });
    expect(JSON.parse(textOf(reply.message))).toEqual({ q: 'a' });
    expect(server.requests[0]?.body).toMatchObject({ text: { format: { strict: true } } });
  });

  test('store and encrypted thoughts', async () => {
    const include = ['reasoning.encrypted_content'];
    expect(await sent({}, { store: false })).toMatchObject({ store: false, include });
    expect(await sent({}, { store: true })).not.toHaveProperty('include');
    expect(await sent({}, { store: false, encryptedReasoning: false })).not.toHaveProperty('include');
    expect(await sent({}, { store: false, echoReasoning: false })).not.toHaveProperty('include');
    const settings = { providerOptions: { include: ['web_search_call.action.sources'] } };
    expect(await sent({ settings }, { store: false })).toMatchObject({
      include: [...include, 'web_search_call.action.sources'],
    });
  });

  test('a stream is asked for as one, at the same path', async () => {
    await using server = await startReplayServer([{ body: streamed([message('hi')]) }]);
    await askStreamed(server);
    expect(server.requests[0]).toMatchObject({ path: '/v1/responses', body: { stream: true } });
  });

  test('R2: the request is not changed', async () => {
    const messages = round('{"a":');
    const before = JSON.stringify(messages);
    await sent({ messages, tools: [f], instructions: 'S' }, { strict: true });
    expect(JSON.stringify(messages)).toBe(before);
  });
});

describe('options', () => {
  const refused = (options: object): Promise<Error> =>
    thrownBy((async () => openaiResponses({ model: 'm', apiKey: 'key', ...options }))());

  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'option "model" is missing'],
    [
      'an unknown option',
      { maxTokensField: 'x' },
      'openaiResponses: unknown option "maxTokensField"; known: model, apiKey',
    ],
    ['a wrong type', { store: 'yes' }, 'option "store" must be of type boolean, not string'],
    ['null', { client: null }, 'option "client" must be of type object, not null'],
    ['no URL', { baseURL: 'localhost' }, 'http://localhost:11434/v1, not "localhost"'],
    [
      'a URL without http',
      { baseURL: 'localhost:11434/v1' },
      '"baseURL" must be a URL that begins with http:// or https://',
    ],
    ['client and key', { client: new OpenAI({ apiKey: 'k' }) }, 'give either "client" or "apiKey"'],
    ['another way to go on', { previousResponse: true }, 'must be "auto" or false, not true'],
    ['going on without a store', { previousResponse: 'auto', store: false }, 'needs a server that keeps replies'],
    ['one tool', { providerTools: { type: 'web_search' } }, '"providerTools" must be a list'],
    ['a tool without a type', { providerTools: [{}] }, '"providerTools[0]" must be an object with a type'],
    ['a function', { providerTools: [{ type: 'function' }] }, 'give functions to the agent as tools'],
    ['a custom tool without a name', { providerTools: [{ type: 'custom' }] }, 'a custom tool without a name'],
    ['no key', { apiKey: undefined }, 'OPENAI_API_KEY'],
  ])('R1: %s is refused, with what to do', async (_name, options, text) => {
    const error = await refused(options);
    expect(error).toMatchObject({ name: 'AgentError', code: 'invalid-option' });
    expect(error.message).toContain(text);
  });

  test('the provider is the host with a suffix, unless it is named', async () => {
    await using server = await startReplayServer([{ json: response([message('hi')]) }]);
    const model = openaiResponses({ model: 'm', baseURL: server.baseURL });
    const reply = await model.generate({ messages: [user] }, { signal: new AbortController().signal });
    const host = new URL(server.baseURL).host;
    expect(Object.keys(reply.message.providerOptions ?? {})).toEqual([`${host}.responses`]);
    const named = await ask(server, {}, { provider: 'local' });
    expect(Object.keys(named.message.providerOptions ?? {})).toEqual(['local']);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  /** What goes to OpenAI itself, where nothing is sent in fact. */
  const openaiBody = async (options: Partial<OpenAIResponsesOptions>): Promise<Record<string, unknown>> => {
    let body = '';
    const client = new OpenAI({
      apiKey: 'k',
      fetch: async (_url, init) => {
        body = typeof init?.body === 'string' ? init.body : '';
        return Response.json(response([message('hi')]));
      },
    });
    const model = openaiResponses({ model: 'gpt-5', client, ...options });
    const reply = await model.generate({ messages: [user] }, { signal: new AbortController().signal });
    expect(Object.keys(reply.message.providerOptions ?? {})).toEqual(['openai.responses']);
    expect(model.canOutput).toBe(true);
    return JSON.parse(body);
  };

  test('OpenAI keeps nothing unless told to, and gives thoughts back encrypted, where the model thinks', async () => {
    const include = ['reasoning.encrypted_content'];
    expect(await openaiBody({})).toMatchObject({ store: false, include });
    expect(await openaiBody({ store: true })).not.toHaveProperty('include');
    for (const model of ['gpt-4o', 'ft:gpt-4.1:a', 'gpt-5-chat-latest']) {
      expect(await openaiBody({ model })).not.toHaveProperty('include');
    }
    expect(await openaiBody({ model: 'gpt-4o', encryptedReasoning: true })).toMatchObject({ include });
  });

  test('name, canOutput and needsTools', async () => {
    await using server = await startReplayServer([]);
    expect(modelOf(server)).toMatchObject({ name: 'scripted', canOutput: false, needsTools: false });
    expect(modelOf(server, { canOutput: true, needsTools: true })).toMatchObject({ canOutput: true, needsTools: true });
  });
});
