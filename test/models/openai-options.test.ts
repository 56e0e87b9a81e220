import { OpenAI } from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openaiChat, type OpenAIChatOptions } from '../../src/models/openai/index.ts';
import { completion, startReplayServer } from '../support/replay-server.ts';
import { reasoningOf, thrownBy } from './ask.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const generate = (options: OpenAIChatOptions) =>
  openaiChat(options).generate(request, { signal: new AbortController().signal });

const refused = (options: object): Promise<Error> =>
  thrownBy((async () => openaiChat({ model: 'm', apiKey: 'key', ...options }))());

beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY', 'OPENAI_BASE_URL']) vi.stubEnv(name, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('options', () => {
  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'option "model" is missing'],
    ['an empty model', { model: '' }, 'option "model" is missing'],
    ['an unknown option', { temprature: 1 }, 'unknown option "temprature"; known: model, apiKey'],
    ['a wrong type', { strict: 'yes' }, 'option "strict" must be of type boolean, not string'],
    ['null', { client: null }, 'option "client" must be of type object, not null'],
    ['no URL', { baseURL: 'localhost' }, 'http://localhost:11434/v1, not "localhost"'],
    [
      'a URL without http',
      { baseURL: 'localhost:11434/v1' },
      '"baseURL" must be a URL that begins with http:// or https://',
    ],
    ['a password in the URL', { baseURL: 'https://me:secret@example.com/v1' }, 'must hold no name and password'],
    ['a wrong field', { maxTokensField: 'max' }, 'must be max_completion_tokens or max_tokens, not "max"'],
    ['an empty key', { apiKey: '' }, 'option "apiKey" is empty'],
    ['client and key', { client: new OpenAI({ apiKey: 'k' }) }, 'give either "client" or "apiKey"'],
  ])('R1: %s is refused, with what to do', async (_name, options, message) => {
    const error = await refused(options);
    expect(error).toMatchObject({ name: 'AgentError', code: 'invalid-option' });
    expect(error.message).toContain(message);
  });

  test('no key and no base URL is refused; the message says how to mend it', async () => {
    const error = await refused({ apiKey: undefined });
    expect(error).toMatchObject({ code: 'invalid-option' });
    expect(error.message).toContain('OPENAI_API_KEY');
  });

  test('no key with a base URL works, and sends no key', async () => {
    await using server = await startReplayServer([{ json: completion({ content: 'hi' }) }]);
    await generate({ model: 'm', baseURL: server.baseURL });
    vi.stubEnv('OPENAI_BASE_URL', server.baseURL);
    await generate({ model: 'm' });
    expect(server.requests.map(({ headers, path }) => [headers.authorization, path])).toEqual([
      [undefined, '/v1/chat/completions'],
      [undefined, '/v1/chat/completions'],
    ]);
  });

  test('a base URL of the environment that begins without http is refused at once, by its name', async () => {
    vi.stubEnv('OPENAI_BASE_URL', 'localhost:11434/v1');
    const error = await refused({});
    expect(error).toMatchObject({ code: 'invalid-option' });
    expect(error.message).toContain('OPENAI_BASE_URL must be a URL that begins with http:// or https://');
  });

  test('a text in place of the options is refused, with what to give', async () => {
    const error = await thrownBy((async () => openaiChat('gpt-5-mini' as never))());
    expect(error).toMatchObject({ name: 'AgentError', code: 'invalid-option' });
    expect(error.message).toBe('openaiChat: give an object, such as { model: "gpt-5-mini" }, not "gpt-5-mini"');
  });

  test('a page may ask a server that needs no key; a key in a page is refused, with what to do', async () => {
    vi.stubGlobal('window', { document: {} });
    try {
      expect(openaiChat({ model: 'm', baseURL: 'http://127.0.0.1:1/v1' }).name).toBe('m');
      const error = await refused({ baseURL: 'http://127.0.0.1:1/v1' });
      expect(error).toMatchObject({ name: 'AgentError', code: 'invalid-option' });
      expect(error.message).toContain('a page shows its "apiKey" to everybody; give the "baseURL"');
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('key and base URL come from the environment; options win', async () => {
    await using server = await startReplayServer([{ json: completion({ content: 'hi' }) }]);
    vi.stubEnv('OPENAI_BASE_URL', server.baseURL);
    vi.stubEnv('OPENAI_API_KEY', 'from-environment');
    await generate({ model: 'm' });
    await generate({ model: 'm', apiKey: 'from-option' });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer from-environment',
      'Bearer from-option',
    ]);
  });

  test('a client of the openai package is used as it is, but never retries', async () => {
    await using server = await startReplayServer([{ status: 500, json: { error: { message: 'no' } } }]);
    const client = new OpenAI({ apiKey: 'k', baseURL: server.baseURL, defaultHeaders: { 'x-mine': '1' } });
    expect(await thrownBy(generate({ model: 'm', client }))).toMatchObject({ status: 500 });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers['x-mine']).toBe('1');
  });

  test('the provider is the host with its port, unless it is named', async () => {
    const message = { content: 'hi', reasoning: 'hm' };
    await using server = await startReplayServer([{ json: completion(message) }]);
    const host = new URL(server.baseURL).host;
    const reply = await generate({ model: 'm', baseURL: server.baseURL });
    expect(reasoningOf(reply)).toBe('hm');
    expect(reply.message.content).toMatchObject([{ providerOptions: { [host]: { field: 'reasoning' } } }, {}]);
    const named = await generate({ model: 'm', baseURL: server.baseURL, provider: 'local' });
    expect(named.message.content).toMatchObject([{ providerOptions: { local: { field: 'reasoning' } } }, {}]);
  });

  test('name, needsTools, and the model that answered', async () => {
    await using server = await startReplayServer([{ json: completion({ content: 'hi' }) }]);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, needsTools: true });
    expect(model).toMatchObject({ name: 'm', needsTools: true });
    expect(openaiChat({ model: 'm', apiKey: 'k' }).needsTools).toBe(false);
    expect((await generate({ model: 'm', baseURL: server.baseURL })).model).toBe('scripted');
  });
});
