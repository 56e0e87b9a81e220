import { expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';

const durable = (store: SessionStore = memoryStore()): SessionStore => ({ ...store, durable: true });
const gated = toolOf('gated', () => 'ran', { needsApproval: true });

test('R39: a claim whose answer was lost is not taken for one of somebody else at the same revision', async () => {
  const store = durable();
  const ran: string[] = [];
  const agentOf = (name: string, over: SessionStore, held = heldTool('pay')) => ({
    held,
    agent: createAgent({
      model: scriptedModel([`done ${name}`]),
      tools: [toolOf('pay', () => (ran.push(name), 'paid'), { annotations: { idempotent: true } })],
      store: over,
    }),
  });
  const held = heldTool('pay');
  const first = createAgent({ model: scriptedModel([calls(call('pay'))]), tools: [held.tool], store });
  const begun = await first.open('x');
  void begun.send('go').catch(() => undefined);
  await held.whenBegun(1);
  await begun[Symbol.asyncDispose]();

  let hasLost = false;
  const lossy: SessionStore = {
    ...store,
    commit: async (commit) => {
      if (hasLost) return store.commit(commit);
      hasLost = true;
      const other = await agentOf('b', store).agent.open('x');
      await other.settled();
      throw new Error('connection lost');
    },
  };
  const late = await agentOf('a', lossy).agent.open('x');
  await late.settled().catch(() => undefined);
  expect(ran).toEqual(['b']);
});

test('a message that says nothing is refused, however it is sent', async () => {
  const agent = createAgent({ model: scriptedModel([]) });
  const empty = { role: 'user' as const, content: [{ type: 'text' as const, text: '' }] };
  expect(await rejection(agent.run(empty))).toMatchObject({ code: 'invalid-message' });
  expect(await rejection(agent.stream(empty).result)).toMatchObject({ code: 'invalid-message' });
  const session = await agent.open();
  expect(await rejection(session.send(empty))).toMatchObject({ code: 'invalid-message' });
});

test('an agent that closes saves every session before it tells that one could not be saved', async () => {
  const store = durable();
  const agent = createAgent({
    model: { name: 'slow', generate: () => new Promise(() => undefined) },
    store: {
      ...store,
      commit: async (commit) => {
        if (commit.summary.sessionId === 'bad') throw new Error('no room');
        await new Promise((resolve) => setImmediate(resolve));
        return store.commit(commit);
      },
    },
  });
  for (const id of ['good', 'bad']) void (await agent.open(id)).send('keep me').catch(() => undefined);
  expect(await rejection(agent.close())).toMatchObject({ code: 'store-error' });
  expect((await store.read('good'))?.messages).toHaveLength(1);
});

test('a fork under an id that is taken is refused before anything of it runs; the session of that id stays', async () => {
  const store = memoryStore();
  const agent = createAgent({
    model: scriptedModel([calls(call('gated')), calls(call('gated'))]),
    tools: [gated],
    store,
  });
  await agent.run('one', { session: 'a' });
  await agent.run('two', { session: 'b' });
  const other = await agent.open('b');
  const from = await agent.open('a');
  expect(await rejection(from.fork({ id: 'b' }))).toMatchObject({ code: 'session-exists' });
  expect(await agent.open('b')).toBe(other);
});

test('of two forks under one id at once, one is told that there is a session of it', async () => {
  const agent = createAgent({ model: scriptedModel(['one']), store: durable() });
  const from = await agent.open('a');
  await from.send('hello');
  await from.settled();
  const forks = await Promise.allSettled([from.fork({ id: 'b' }), from.fork({ id: 'b' })]);
  const failures = forks.flatMap((fork) => (fork.status === 'rejected' ? [fork.reason as unknown] : []));
  expect(failures).toEqual([expect.objectContaining({ code: 'session-exists' })]);
});

test('a fork that could not be stored is not there: nothing of it goes on', async () => {
  const store = durable();
  let asked = 0;
  let isFull = true;
  const held = heldTool('work', { annotations: { idempotent: true } });
  const agent = createAgent({
    model: scriptedModel([() => ((asked += 1), calls(call('work')))]),
    tools: [held.tool],
    store: {
      ...store,
      commit: async (commit) => {
        if (isFull && commit.summary.sessionId === 'b') throw new Error('no room');
        await store.commit(commit);
      },
    },
  });
  const from = await agent.open('a');
  await from.send('hello');
  await held.whenBegun(1);
  expect(await rejection(from.fork({ id: 'b' }))).toMatchObject({ code: 'store-error' });
  isFull = false;
  const found = await agent.open('b');
  expect([found.status, found.messages.length]).toEqual(['idle', 0]);
  expect((await from.fork({ id: 'c' })).status).toBe('busy');
  await held.whenBegun(2);
  expect([asked, held.begun.length]).toEqual([1, 2]);
});

test('a command that is nothing at all is told and gone; the session opens', async () => {
  const store = memoryStore();
  const agent = createAgent({ model: scriptedModel([calls(call('gated'))]), tools: [gated], store });
  await agent.run('go', { session: 's' });
  await agent.close();
  await store.post('s', null as never);
  const next = createAgent({ model: scriptedModel([]), tools: [gated], store });
  expect((await next.open('s')).status).toBe('waiting');
  expect(await store.inbox('s')).toEqual([]);
});

test('messages that wait cost what they are: one that is read writes no other again', async () => {
  const store = durable();
  let written = 0;
  const model = {
    name: 'm',
    generate: async () => ({ message: { role: 'assistant' as const, content: 'ok' }, finishReason: 'stop' as const }),
  };
  const agent = createAgent({
    model,
    store: {
      ...store,
      commit: (commit) => ((written += commit.isWhole ? 0 : commit.state.length), store.commit(commit)),
    },
  });
  const session = await agent.open('s');
  await Promise.all(Array.from({ length: 100 }, (_, n) => session.send(`message number ${n} ${'x'.repeat(100)}`)));
  await session.settled();
  expect(session.messages).toHaveLength(200);
  expect(written).toBeLessThan(200 * 1_000);
});

test('the stream of a message that is queued behind a decision ends with what is waited for', async () => {
  const agent = createAgent({ model: scriptedModel([calls(call('gated'))]), tools: [gated] });
  await agent.run('go', { session: 's' });
  const stream = agent.stream('and then?', { session: 's' });
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  expect(types.at(-1)).toBe('finish');
  expect((await stream.result).outcome.type).toBe('pending');
});

test('R35: a call whose store takes long is stopped at once, and has not begun', async () => {
  const gate = Promise.withResolvers<void>();
  const store = durable();
  let isHeld = false;
  const agent = createAgent({
    model: scriptedModel([calls(call('pay'))]),
    tools: [toolOf('pay', () => 'paid')],
    store: {
      ...store,
      commit: async (commit) => {
        if (commit.transitions.some(({ to }) => to === 'acting')) {
          isHeld = true;
          await gate.promise;
        }
        return store.commit(commit);
      },
    },
  });
  const session = await agent.open();
  void session.send('go').catch(() => undefined);
  while (!isHeld) await new Promise((resolve) => setImmediate(resolve));
  await session.stop();
  expect(JSON.stringify(session.messages)).toContain('stopped before it started');
  gate.resolve();
  await agent.close();
});
