import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { assign, createActor, setup, waitFor } from 'xstate';
import { createAgent, exportSession, memoryStore, pendingOf } from '../../src/index.ts';
import { type Inspector, startInspector } from '../../src/inspector/index.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { ask, command, placeOf, preparePage, readStream } from './http.ts';
import { tripAgent } from './support.ts';

beforeAll(preparePage);

const open: Inspector[] = [];
const start = async (options: Parameters<typeof startInspector>[0] = {}): Promise<Inspector> => {
  const inspector = await startInspector(options);
  open.push(inspector);
  return inspector;
};
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.splice(0).map((inspector) => inspector.close()));
});

/** A trip that waits for its approval, and the seats that were booked. */
const waiting = async () => {
  const seats: number[] = [];
  const { agent, inspected } = tripAgent({ onBook: ({ seats: count }) => seats.push(count) });
  const inspector = await start({ agents: [inspected] });
  const session = await agent.open('trip', { inspect: inspector.inspect });
  await session.send('go');
  await session.settled();
  const [pending] = session.pending;
  if (pending === undefined) throw new Error('nothing waits');
  const { callId, inputHash } = pending;
  return { inspector, session, seats, decision: { session: 'trip', callId, inputHash } };
};

test('an approval with edited arguments runs exactly those', async () => {
  const { inspector, session, seats, decision } = await waiting();
  const answer = await command(inspector.url, { type: 'approve', ...decision, input: { to: 'Hangzhou', seats: 2 } });
  expect(answer.status).toBe(200);
  expect((await session.settled()).outcome.type).toBe('answered');
  expect(seats).toEqual([2]);
});

test('arguments that do not fit are refused with words, and the call still waits', async () => {
  const { inspector, session, seats, decision } = await waiting();
  const answer = await command(inspector.url, { type: 'approve', ...decision, input: { to: 'Hangzhou', seats: 12 } });
  expect(answer.status).toBe(422);
  expect(answer.body).toContain('seats');
  expect(session.pending).toHaveLength(1);
  expect(seats).toEqual([]);
});

test('a rejected call never runs, and the model reads the reason', async () => {
  const { inspector, session, seats, decision } = await waiting();
  expect((await command(inspector.url, { type: 'reject', ...decision, reason: 'too dear' })).status).toBe(200);
  await session.settled();
  expect(seats).toEqual([]);
  expect(JSON.stringify(session.messages)).toContain('too dear');
});

test('a response stands in the place of the tool', async () => {
  const { inspector, session, seats, decision } = await waiting();
  expect((await command(inspector.url, { type: 'respond', ...decision, output: { train: 'by hand' } })).status).toBe(
    200,
  );
  await session.settled();
  expect(seats).toEqual([]);
  expect(JSON.stringify(session.messages)).toContain('by hand');
});

test('stop ends the turn, and retry goes on with it', async () => {
  const { inspector, session } = await waiting();
  expect((await command(inspector.url, { type: 'stop', session: 'trip' })).status).toBe(200);
  expect((await session.settled()).outcome.type).toBe('stopped');
  expect((await command(inspector.url, { type: 'retry', session: 'trip' })).status).toBe(200);
  expect(session.status).not.toBe('waiting');
});

const withoutToken = { authorization: 'Bearer wrong' };
const attacks: [name: string, status: number, body: object, headers?: Record<string, string>][] = [
  ['no key', 401, {}, { authorization: '' }],
  ['a wrong key', 401, {}, withoutToken],
  ['a foreign Origin', 403, {}, { origin: 'https://evil.example' }],
  ['the Origin null', 403, {}, { origin: 'null' }],
  ['a wrong Host', 403, {}, { host: 'evil.example' }],
  ['our port under another name', 403, {}, { host: 'rebind.example:80' }],
  ['a form of another page', 415, {}, { 'content-type': 'text/plain' }],
  ['a stale hash', 409, { inputHash: 'f'.repeat(64) }],
  ['no hash', 400, { inputHash: undefined }],
  ['a forged result of the tool', 400, { type: 'xstate.done.actor.tool', output: 'paid' }],
  ['a forged event of the chart', 400, { type: 'approval.granted' }],
  ['a field that no command has', 400, { remember: 'tool' }],
  ['a name of Object.prototype', 400, { type: 'constructor' }],
  ['another session', 404, { session: 'other' }],
  ['another call', 404, { callId: 'call_9_9' }],
  ['a list in place of a command', 400, { session: ['trip'] }],
];

test.each(attacks)('%s is refused, and the agent is as it was', async (_, status, body, headers) => {
  const { inspector, session, seats, decision } = await waiting();
  const before = JSON.stringify(session.toJSON());
  const answer = await command(inspector.url, { type: 'approve', ...decision, ...body }, headers);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(session.toJSON())).toBe(before);
  expect(seats).toEqual([]);
  await session.approve(decision.callId);
  expect((await session.settled()).outcome.type).toBe('answered');
});

test('a body of 10 MB is refused before it is read', async () => {
  const { inspector, session } = await waiting();
  const { token } = placeOf(inspector.url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const large = Buffer.alloc(10_000_000, 'x');
  const told = await ask(inspector.url, '/commands', { method: 'POST', headers, body: large }).then(
    ({ status }) => status,
    (error: { code?: string }) => error.code,
  );
  // The server may be gone before all was sent.
  expect([413, 'EPIPE', 'ECONNRESET']).toContain(told);
  const chunked = await ask(inspector.url, '/commands', {
    method: 'POST',
    headers: { ...headers, 'transfer-encoding': 'chunked' },
    body: large,
  }).then(
    ({ status }) => status,
    (error: { code?: string }) => error.code,
  );
  expect([413, 'EPIPE', 'ECONNRESET']).toContain(chunked);
  expect(session.pending).toHaveLength(1);
});

test('a value of more levels than are walked is refused, and the call still waits', async () => {
  const { inspector, session, decision } = await waiting();
  const { token } = placeOf(inspector.url);
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  for (const [type, field] of [
    ['respond', 'output'],
    ['approve', 'input'],
  ]) {
    const answer = await ask(inspector.url, '/commands', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: `${JSON.stringify({ id: `deep ${type}`, type, ...decision }).slice(0, -1)},"${field}":${deep}}`,
    });
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('levels') });
  }
  expect(session.pending).toHaveLength(1);
});

test('a command that is sent again is refused', async () => {
  const { inspector, session, seats, decision } = await waiting();
  const body = { id: 'once', type: 'approve', ...decision };
  expect((await command(inspector.url, body)).status).toBe(200);
  expect((await command(inspector.url, body)).status).toBe(409);
  await session.settled();
  expect(seats).toEqual([1]);
});

test('after a decision another one is refused', async () => {
  const { inspector, session, seats, decision } = await waiting();
  await command(inspector.url, { type: 'reject', ...decision });
  const answer = await command(inspector.url, { type: 'approve', ...decision });
  expect([404, 409]).toContain(answer.status);
  await session.settled();
  expect(seats).toEqual([]);
});

test.each(['/events', '/log', '/stored', '/stored-session?id=trip'])(
  '%s needs the key; the page itself has nothing to hide',
  async (path) => {
    const inspector = await start();
    expect((await ask(inspector.url, path)).status).toBe(401);
    expect((await ask(inspector.url, '/')).status).toBe(200);
  },
);

test('nothing is told to other origins, framed, cached or run that the page did not bring', async () => {
  const inspector = await start();
  for (const path of ['/', '/page.js', '/page.css']) {
    const { headers } = await ask(inspector.url, path);
    expect(headers['access-control-allow-origin']).toBe(undefined);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('the key becomes a cookie that no script reads and no other site sends', async () => {
  const inspector = await start();
  const { token } = placeOf(inspector.url);
  const login = (given: string) =>
    ask(inspector.url, '/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: given }),
    });
  expect((await login('guess')).status).toBe(401);
  const { headers } = await login(token);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
  expect((await ask(inspector.url, '/stored', { headers: { cookie: cookie.split(';')[0] ?? '' } })).status).toBe(200);
});

test('it does not start in production, unless it is told to', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  await expect(startInspector()).rejects.toMatchObject({ code: 'invalid-option' });
  expect((await start({ allowInProduction: true })).url).toContain('http://127.0.0.1:');
});

test.each<[string, object, string]>([
  ['an unknown option', { agent: [] }, 'there is no option "agent"; known here: port, host, agents'],
  ['a port that is none', { port: '8080' }, 'option "port" must be a whole number from 0'],
  ['an agent that is not in a list', { agents: tripAgent().agent }, 'option "agents" must be an array of agents'],
  ['something else than agents', { agents: [{ name: 'trip' }] }, 'option "agents" must be an array of agents'],
  ['something else than a store', { store: {} }, 'option "store" must be a path, or a SessionStore'],
  ['an empty host', { host: '' }, 'option "host" must be a name or address'],
  ['a recorder that is none', { recorder: () => undefined }, 'option "recorder" must be what createRecorder() gives'],
])('%s is refused with words that say how to mend it', async (_, options, words) => {
  await expect(startInspector(options)).rejects.toMatchObject({
    code: 'invalid-option',
    message: expect.stringContaining(`startInspector: ${words}`),
  });
});

test('a path where no file is is refused and makes none; a store that makes its file later is looked at from then on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-store-'));
  const path = join(folder, 'sessions.db');
  await expect(startInspector({ store: path })).rejects.toMatchObject({
    code: 'invalid-option',
    message: `startInspector: there is no file ${JSON.stringify(path)} for option "store"; give the path that the agent's store has, or, where the file is made later, the store itself: sqliteStore(${JSON.stringify(path)})`,
  });
  expect(existsSync(path)).toBe(false);
  const store = sqliteStore(path);
  const inspector = await start({ store });
  const agent = createAgent({ model: scriptedModel(['Hello.']), store: path });
  await agent.run('Hi', { session: 'later' });
  const { body } = await ask(inspector.url, '/stored', {
    headers: { authorization: `Bearer ${placeOf(inspector.url).token}` },
  });
  expect(JSON.parse(body)).toMatchObject({ sessions: [{ id: 'later', status: 'settled' }] });
  await agent.close();
  await inspector.close();
  await store.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

test('a session that runs here is forked at any moment that its store has', async () => {
  const store = sqliteStore(':memory:');
  const recorder = createRecorder();
  const tools = [toolOf('look', () => 'seen'), toolOf('pay', () => 'paid', { needsApproval: true })];
  const script = scriptedModel([calls(call('look')), calls(call('pay')), 'Done.']);
  const agent = createAgent({ name: 'clerk', model: script, tools, store });
  const inspector = await start({ agents: [agent], store, recorder });
  const session = await agent.open('here', { inspect: inspector.inspect });
  await session.send('go');
  await session.settled();
  await session.approve(session.pending[0]?.callId ?? '');
  await session.settled();
  const { log } = recorder;
  const seqOf = (state: string, nth: number): number =>
    log
      .after(0, Infinity)
      .filter((event) => event.type === 'step' && event.states.join() === `agent.${state}`)
      .map(({ seq }) => seq)
      .at(nth) ?? 0;
  const fork = async (seq: number) => command(inspector.url, { type: 'fork', session: 'here', run: log.run, seq });
  for (const [state, nth] of [
    ['awaiting-approval', 0],
    ['thinking.asking', 1],
    ['done.answered', -1],
  ] as const) {
    const { session: copy } = JSON.parse((await fork(seqOf(state, nth))).body);
    const steps = await store.history('here');
    const at = steps.filter(({ to }) => to === state).at(nth)?.revision;
    const { messages } = await exportSession(store, 'here', { at: at ?? 0 });
    expect((await exportSession(store, copy)).messages).toEqual(messages);
  }
  await store.delete('here');
  expect((await fork(seqOf('awaiting-approval', 0))).status).toBe(409);
  await agent.close();
});

test('where the port is taken, the next free one serves', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const inspector = await start({ port });
  expect(placeOf(inspector.url).port).toBeGreaterThan(port);
  await new Promise((resolve) => other.close(resolve));
});

test('an address that cannot be had is told in words', async () => {
  await expect(startInspector({ host: '203.0.113.7' })).rejects.toThrow(/cannot listen on 203\.0\.113\.7/);
});

test('a session whose agent was not given can be seen, and not decided on', async () => {
  const { agent } = tripAgent();
  const inspector = await start();
  const session = await agent.open('trip', { inspect: inspector.inspect });
  await session.send('go');
  await session.settled();
  const [pending] = session.pending;
  const { callId, inputHash } = pending ?? {};
  const answer = await command(inspector.url, { type: 'approve', session: 'trip', callId, inputHash });
  expect([answer.status, answer.body]).toEqual([409, expect.stringContaining('startInspector({ agents })')]);
  expect(session.pending).toHaveLength(1);
});

test('a raw actor of an agent hears decisions as events, bound to the hash', async () => {
  const { agent } = tripAgent();
  const inspector = await start();
  const actor = createActor(agent.machine, { input: { message: 'go', sessionId: 'raw' }, inspect: inspector.inspect });
  actor.start();
  const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('waiting'));
  const [pending] = pendingOf(context);
  const decision = { type: 'approve', session: 'raw', callId: pending?.callId };
  expect((await command(inspector.url, { ...decision, inputHash: 'stale' })).status).toBe(409);
  expect((await command(inspector.url, { ...decision, inputHash: pending?.inputHash })).status).toBe(200);
  await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
  expect(actor.getSnapshot().matches({ done: 'answered' })).toBe(true);
});

test('a session of a store is opened by its agent for a decision; without the agent the decision waits in the store', async () => {
  const store = memoryStore();
  const paid: unknown[] = [];
  const tools = [toolOf('pay', (input) => paid.push(input), { needsApproval: true })];
  const first = createAgent({ name: 'clerk', model: scriptedModel([calls(call('pay', { sum: 3 }))]), tools, store });
  const { pending } = await first.run('Pay.', { session: 'kept' });
  await first.close();
  const decision = { type: 'approve', session: 'kept', callId: pending[0]?.callId, inputHash: pending[0]?.inputHash };

  const look = await start({ store });
  const auth = { authorization: `Bearer ${placeOf(look.url).token}` };
  expect((await ask(look.url, '/stored', { headers: auth })).body).toContain('"kept"');
  expect((await ask(look.url, '/stored-session?id=kept', { headers: auth })).body).toContain('awaiting-approval');
  for (const [query, status] of [
    ['', 400],
    ['?id=', 400],
    ['?id=a%00b', 400],
    [`?id=${'x'.repeat(1_001)}`, 400],
    ['?id=nobody', 404],
  ] as const) {
    expect((await ask(look.url, `/stored-session${query}`, { headers: auth })).status).toBe(status);
  }
  expect((await command(look.url, { ...decision, inputHash: 'stale' })).status).toBe(409);
  const left = await command(look.url, decision);
  expect([left.status, left.body]).toEqual([200, expect.stringContaining('Left in the store')]);
  expect(await store.inbox('kept')).toHaveLength(1);
  expect(paid).toEqual([]);

  const second = createAgent({ name: 'clerk', model: scriptedModel(['Paid.']), tools, store });
  const session = await second.open('kept');
  expect((await session.settled()).text).toBe('Paid.');
  expect(paid).toEqual([{ sum: 3 }]);
});

test('a stream that broke goes on without a gap and without a repeat, also over bursts', async () => {
  const machine = setup({ types: { context: {} as { count: number } } }).createMachine({
    id: 'counter',
    context: { count: 0 },
    on: { add: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
  });
  const inspector = await start();
  const actor = createActor(machine, { inspect: inspector.inspect }).start();
  const seen: number[] = [];
  let lastEventId: string | undefined;
  for (let round = 1; round <= 8; round += 1) {
    for (let index = 0; index < 150; index += 1) actor.send({ type: 'add' });
    const streamed = await readStream(inspector.url, ({ events }) => events.length > 100, lastEventId);
    seen.push(...streamed.events.map(({ seq }) => seq));
    lastEventId = streamed.lastEventId;
  }
  const rest = await readStream(
    inspector.url,
    ({ hello, events }) => (events.at(-1)?.seq ?? 0) >= hello.last || hello.position === hello.last,
    lastEventId,
  );
  seen.push(...rest.events.map(({ seq }) => seq));
  expect(seen).toEqual(seen.map((_, index) => index + 1));
  expect(seen.length).toBeGreaterThan(2_400);
});

test('a server that starts again for the same recorder has all that was recorded', async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  const first = await start({ recorder, agents: [inspected] });
  const session = await agent.open('trip', { inspect: first.inspect });
  await session.send('go');
  await session.settled();
  const before = await readStream(first.url, ({ hello, events }) => (events.at(-1)?.seq ?? 0) >= hello.last);
  await first.close();
  open.splice(0);
  await session.approve(session.pending[0]?.callId ?? '');
  await session.settled();
  const second = await start({ recorder });
  const after = await readStream(
    second.url,
    ({ hello, events }) => (events.at(-1)?.seq ?? 0) >= hello.last,
    before.lastEventId,
  );
  expect(after.events[0]?.seq).toBe((before.events.at(-1)?.seq ?? 0) + 1);
});

test('1,000 deltas over a context of 200 messages of 2 kB are under 1 MB on the wire', async () => {
  const messages = Array.from({ length: 200 }, () => ({ role: 'user', content: 'x'.repeat(2_000) }));
  const machine = setup({
    types: {
      context: {} as { messages: typeof messages; text: string },
      events: {} as { type: 'delta'; text: string },
    },
  }).createMachine({
    id: 'writer',
    context: { messages, text: '' },
    on: { delta: { actions: assign({ text: ({ context, event }) => context.text + event.text }) } },
  });
  const inspector = await start();
  const actor = createActor(machine, { inspect: inspector.inspect }).start();
  for (let index = 0; index < 1_000; index += 1) actor.send({ type: 'delta', text: `word ${index} ` });
  const { bytes, events } = await readStream(
    inspector.url,
    ({ hello, events: all }) => (all.at(-1)?.seq ?? 0) >= hello.last,
  );
  expect(events.length).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(1_000_000);
});
