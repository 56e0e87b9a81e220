import { expect, test } from 'vitest';
import { createHandler } from '../../src/server/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Init, clientOf, refusal } from './client.ts';

const setUp = (options: Partial<Parameters<typeof createHandler>[0]> = {}) => {
  const faults: unknown[] = [];
  const model = scriptedModel(['hello']);
  const handle = createHandler({
    agent: createAgent({ model }),
    authorize: () => ({ owner: 'ann' }),
    onError: (error) => faults.push(error),
    ...options,
  });
  return { handle, client: clientOf(handle), faults, model };
};

test('what is not there is 404, and another method 405 with those that are', async () => {
  const { client } = setUp();
  for (const path of [
    '/',
    '/session',
    '/sessions',
    '/sessions/',
    '/sessions/a/b',
    '/sessions/a/messages/',
    '/chat/a/b',
  ]) {
    expect([path, ...(await refusal(client.get(path)))]).toEqual([path, 404, 'not-found']);
  }
  const response = await client.ask('DELETE', '/sessions/a/messages');
  expect(response.headers.get('allow')).toBe('POST');
  expect(await refusal(Promise.resolve(response))).toEqual([405, 'method-not-allowed']);
  expect(await refusal(client.ask('PUT', '/chat', {}))).toEqual([405, 'method-not-allowed']);
  for (const name of ['constructor', '__proto__']) {
    expect(await refusal(client.ask(name, '/sessions/a'))).toEqual([405, 'method-not-allowed']);
  }
  expect(await refusal(client.get('/sessions/%zz'))).toEqual([400, 'invalid-path']);
  for (const id of ['a%00', 'x'.repeat(1_000)]) {
    expect(await refusal(client.get(`/sessions/${id}`))).toEqual([400, 'invalid-session-id']);
  }
  const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
  const half = client.post('/chat', { id: '\ud800', messages: [user] });
  expect(await refusal(half)).toEqual([400, 'invalid-session-id']);
});

test('a handler that is mounted at a path answers there alone', async () => {
  const { client } = setUp({ basePath: '/api/agent' });
  expect((await client.post('/api/agent/sessions/a/messages', { message: 'hi' })).status).toBe(200);
  expect(await refusal(client.get('/sessions/a'))).toEqual([404, 'not-found']);
  expect(await refusal(client.get('/api/agents/sessions/a'))).toEqual([404, 'not-found']);
});

test.each(['/ä', '/my agent', '/日本/agent'])('a handler is mounted at %s, as a URL writes it', async (basePath) => {
  const { client } = setUp({ basePath });
  expect((await client.post(`${basePath}/sessions/a/messages`, { message: 'hi' })).status).toBe(200);
  expect(await refusal(client.get('/sessions/a'))).toEqual([404, 'not-found']);
});

test('a session in which nothing was said is 404 for all that needs one', async () => {
  const { client } = setUp();
  const asked = [
    client.get('/sessions/a'),
    client.get('/sessions/a/events'),
    client.get('/sessions/a/approvals'),
    client.post('/sessions/a/approvals/call_1_0', { decision: 'approve', inputHash: 'x' }),
    client.post('/sessions/a/stop'),
    client.get('/chat/a'),
  ];
  for (const each of asked) expect(await refusal(each)).toEqual([404, 'unknown-session']);
  expect((await client.get('/chat/a/stream')).status).toBe(204);
});

test('a body that is too large is 413, with and without its length told, and is not read to its end', async () => {
  const { client, model } = setUp({ maxBodyBytes: 1_000 });
  const path = '/sessions/a/messages';
  expect(await refusal(client.post(path, { message: 'x'.repeat(1_000) }))).toEqual([413, 'body-too-large']);
  expect(await refusal(client.post(path, {}, { headers: { 'content-length': '5000' } }))).toEqual([
    413,
    'body-too-large',
  ]);
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new TextEncoder().encode('x'.repeat(100)));
    },
  });
  const streamed = { body: endless, duplex: 'half' } as Init;
  expect(await refusal(client.ask('POST', path, undefined, streamed))).toEqual([413, 'body-too-large']);
  expect(pulled).toBeLessThan(20);
  expect((await client.post(path, { message: 'x'.repeat(900) })).status).toBe(200);
  expect(model.requests).toHaveLength(1);
});

test('a body that is not JSON is 415 or 400, and one that does not fit is 400 and says where', async () => {
  const { client, model } = setUp();
  const path = '/sessions/a/messages';
  const as = (type: string) => ({ headers: { 'content-type': type } });
  expect(await refusal(client.post(path, 'message=hi', as('application/x-www-form-urlencoded')))).toEqual([
    415,
    'unsupported-media-type',
  ]);
  expect(await refusal(client.post(path, '{"message":"hi"}', as('text/plain')))).toEqual([
    415,
    'unsupported-media-type',
  ]);
  for (const body of ['{', '']) expect(await refusal(client.post(path, body))).toEqual([400, 'invalid-json']);
  const latin = { body: new Uint8Array([0x22, 0xe4, 0x22]) };
  expect(await refusal(client.ask('POST', path, undefined, latin))).toEqual([400, 'invalid-json']);

  const unfit: [unknown, string][] = [
    [{}, 'message'],
    [{ message: '' }, 'message'],
    [{ message: 7 }, 'message'],
    [{ message: [{ type: 'tool-call' }] }, 'message'],
    [{ message: { role: 'system', content: 'obey' } }, 'message'],
    [{ message: 'hi', mode: 'now' }, 'mode'],
    [{ message: 'hi', by: 'somebody else' }, 'by'],
    [[], 'body'],
  ];
  for (const [body, where] of unfit) {
    const response = await client.post(path, body);
    const { error } = await response.json();
    expect([response.status, error.code]).toEqual([400, 'invalid-body']);
    expect(error.message).toContain(where);
  }
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  for (const [at, body] of [
    ['/sessions/a/messages', `{"message":${deep}}`],
    ['/sessions/a/approvals/call_1_0', `{"decision":"respond","inputHash":"x","output":${deep}}`],
    ['/sessions/a/approvals/call_1_0', `{"decision":"approve","inputHash":"x","input":${deep}}`],
    ['/chat', `{"id":"a","messages":[{"id":"m","role":"user","parts":[{"type":"text"}]}],"edits":{"a":${deep}}}`],
  ] as const) {
    expect(await refusal(client.post(at, body))).toEqual([400, 'invalid-body']);
  }
  const told = `{"type":"text","text":"hi","providerMetadata":${deep}}`;
  const said = `{"id":"a","messages":[{"id":"m","role":"user","parts":[${told}]}]}`;
  expect(await refusal(client.post('/chat', said))).toEqual([400, 'invalid-message']);
  expect(model.requests).toHaveLength(0);
});

test('a chat whose calls are none is 400, and no fault of the server', async () => {
  const { client, faults, model } = setUp();
  for (const part of [
    null,
    { type: 'tool-Pay' },
    { type: 'tool-Pay', toolCallId: 'call_1_0', state: 'approval-responded' },
    { type: 'dynamic-tool', toolCallId: 'call_1_0', state: 'approval-requested', approval: null },
    { type: 'tool-Pay', toolCallId: 7, state: 'approval-requested', approval: { id: 'call_1_0' } },
  ]) {
    const answer = { id: 'm', role: 'assistant', parts: [part] };
    const asked = client.post('/chat', { id: 'a', messages: [answer] });
    expect([part, (await refusal(asked))[0]]).toEqual([part, 400]);
  }
  expect([faults.length, model.requests.length]).toEqual([0, 0]);
});

test('who is not known is 401 whatever his body is', async () => {
  const { client } = setUp({ authorize: () => ({ refuse: 401 }), maxBodyBytes: 1_000 });
  for (const path of ['/chat', '/sessions/a/messages', '/sessions/a/stop', '/sessions/a/approvals/call_1_0']) {
    for (const body of ['{', '{}', 'x'.repeat(2_000)]) {
      expect(await refusal(client.post(path, body))).toEqual([401, 'not-authenticated']);
    }
    const form = { headers: { 'content-type': 'text/plain' } };
    expect(await refusal(client.post(path, 'hi', form))).toEqual([401, 'not-authenticated']);
  }
});

test('who is not known is 401, who may not 403, and an unclear answer lets nobody in', async () => {
  const answers: [unknown, [number, string], number][] = [
    [{ refuse: 401 }, [401, 'not-authenticated'], 0],
    [{ refuse: 403 }, [403, 'not-authorized'], 0],
    [{ owner: 'ann', refuse: 403 }, [403, 'not-authorized'], 0],
    [undefined, [500, 'server-error'], 1],
    [false, [500, 'server-error'], 1],
    [{}, [500, 'server-error'], 1],
    [{ owner: '' }, [500, 'server-error'], 1],
    [{ owner: 7 }, [500, 'server-error'], 1],
    [{ owner: 'ann', by: 7 }, [500, 'server-error'], 1],
    [{ owner: 'ann', refuse: 'yes' }, [500, 'server-error'], 1],
    [Promise.reject(new Error('the directory is down')), [500, 'server-error'], 1],
  ];
  for (const [answer, expected, count] of answers) {
    const { client, faults, model } = setUp({ authorize: () => answer as never });
    for (const each of [
      () => client.post('/sessions/a/messages', { message: 'hi' }),
      () =>
        client.post('/chat', { id: 'a', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] }),
      () => client.get('/chat/a/stream'),
    ]) {
      const response = await each();
      expect(await response.clone().text()).not.toContain('directory');
      expect(await refusal(Promise.resolve(response))).toEqual(expected);
    }
    expect(faults).toHaveLength(3 * count);
    expect(model.requests).toHaveLength(0);
  }
});

test('a body that the application has read before is its fault, not the client’s; a clone may be read', async () => {
  const reading = setUp({
    authorize: async ({ request }) => {
      await request.text();
      return { owner: 'ann' };
    },
  });
  expect(await refusal(reading.client.post('/sessions/a/messages', { message: 'hi' }))).toEqual([500, 'server-error']);
  expect(reading.faults).toEqual([expect.objectContaining({ message: expect.stringContaining('may read a clone') })]);
  const cloning = setUp({
    authorize: async ({ request }) => {
      await request.clone().text();
      return { owner: 'ann' };
    },
  });
  expect((await cloning.client.post('/sessions/a/messages', { message: 'hi' })).status).toBe(200);
});

test('authorize is told the request, the route and the id, on every route', async () => {
  const asked: [string, string, string][] = [];
  const { client } = setUp({
    authorize: ({ request, route, sessionId }) => {
      asked.push([request.method, route, sessionId]);
      return { refuse: 403 };
    },
  });
  await client.get('/sessions/a%20b');
  await client.post('/sessions/a/messages');
  await client.get('/sessions/a/events');
  await client.get('/sessions/a/approvals');
  await client.post('/sessions/a/approvals/call_1_0');
  await client.post('/sessions/a/stop');
  await client.post('/chat', { id: 'c', messages: [{ id: '1', role: 'user', parts: [] }] });
  await client.get('/chat/c');
  await client.get('/chat/c/stream');
  expect(asked).toEqual([
    ['GET', 'read-session', 'a b'],
    ['POST', 'send-message', 'a'],
    ['GET', 'join-session', 'a'],
    ['GET', 'list-approvals', 'a'],
    ['POST', 'decide', 'a'],
    ['POST', 'stop', 'a'],
    ['POST', 'chat', 'c'],
    ['GET', 'read-chat', 'c'],
    ['GET', 'join-chat', 'c'],
  ]);
});

test('a fault of the server is told without its words, and a closed agent is 503', async () => {
  const agent = createAgent({
    model: scriptedModel(['hello']),
    store: {
      ...memoryStore(),
      read: async () => {
        throw new Error('password of the database');
      },
    },
  });
  const { client, faults } = setUp({ agent });
  const response = await client.get('/sessions/a');
  expect(await response.clone().text()).not.toContain('password');
  expect(await refusal(Promise.resolve(response))).toEqual([500, 'server-error']);
  expect(String(faults[0])).toContain('password');
  await agent.close();
  expect(await refusal(client.get('/sessions/a'))).toEqual([503, 'agent-closed']);
  const mute = setUp({
    agent,
    onError: () => {
      throw new Error('the log is full');
    },
  });
  expect(await refusal(mute.client.get('/sessions/a'))).toEqual([503, 'agent-closed']);
});

test('R1: options that are not right are refused when the handler is made', () => {
  const agent = createAgent({ model: scriptedModel([]) });
  const authorize = () => ({ owner: 'ann' });
  const wrong: [unknown, string][] = [
    [undefined, 'options must be an object'],
    [{ authorize }, 'option "agent"'],
    [{ agent }, 'option "authorize"'],
    [{ agent, authorize, basePath: 'agent' }, 'option "basePath"'],
    [{ agent, authorize, basePath: '/agent/' }, 'option "basePath"'],
    [{ agent, authorize, maxBodyBytes: 0 }, 'option "maxBodyBytes"'],
    [{ agent, authorize, cors: true }, 'cors'],
  ];
  for (const [options, message] of wrong) expect(() => createHandler(options as never)).toThrow(message);
});
