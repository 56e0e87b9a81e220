import { expect, test } from 'vitest';
import { systemClock } from '../../src/actors/alarm.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { collect } from '../support/collect.ts';
import { forgetfulModel } from '../support/models.ts';
import { runFile } from '../support/process.ts';
import { call, calls, toolOf } from '../support/tools.ts';

/** A store whose commits wait until they are let through. */
const gatedStore = (): { store: SessionStore; open: () => void } => {
  const inner = memoryStore();
  const gate = Promise.withResolvers<void>();
  const store: SessionStore = {
    ...inner,
    commit: async (commit) => {
      await gate.promise;
      await inner.commit(commit);
    },
  };
  return { store, open: gate.resolve };
};

test('R38: closing a session whose machine broke leaves in the store what it had', async () => {
  const store = memoryStore();
  let isBroken = false;
  const now = (): number => {
    if (isBroken) throw new Error('broken clock');
    return Date.now();
  };
  const agent = createAgent({
    model: scriptedModel(['good']),
    store,
    limits: { deadline: 1_000_000 },
    clock: { ...systemClock, now },
  });
  const session = await agent.open('conversation');
  session.actor.subscribe({ error: () => undefined });
  await session.send('one');
  expect((await session.settled()).text).toBe('good');

  isBroken = true;
  await expect(session.send('two')).rejects.toMatchObject({ code: 'machine-error' });
  expect(() => session.toJSON()).toThrow(expect.objectContaining({ code: 'machine-error' }));
  await agent.close();

  const reopened = await createAgent({ model: scriptedModel([]), store }).open('conversation');
  expect(reopened.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('R34: opening a session that is just being closed waits until it is saved', async () => {
  const { store, open } = gatedStore();
  const agent = createAgent({ model: scriptedModel(['one', 'two']), store });
  const session = await agent.open('k');
  await session.send('first');
  const closing = session[Symbol.asyncDispose]();
  const again = agent.open('k');
  open();
  await closing;
  const reopened = await again;
  expect(reopened).not.toBe(session);
  expect(reopened.messages[0]).toEqual({ role: 'user', content: 'first' });
});

test('the document of a closed session is the one with which it was closed', async () => {
  const gated = toolOf('gated', () => 'ran', { needsApproval: true });
  const agent = createAgent({ model: scriptedModel([calls(call('gated')), 'done']), tools: [gated] });
  const { sessionId } = await agent.run('go');
  const session = await agent.open(sessionId);
  const before = JSON.stringify(session);
  await session[Symbol.asyncDispose]();
  expect(JSON.stringify(session)).toBe(before);
  const restored = agent.restore(JSON.stringify(session));
  await restored.approve('call_1_0');
  expect((await restored.settled()).text).toBe('done');
});

test('a store that cannot keep the state before a model call fails the turn with what it says, and the model is not asked', async () => {
  const model = scriptedModel([]);
  const store: SessionStore = {
    ...memoryStore(),
    durable: true,
    commit: async () => {
      throw new Error('disk full');
    },
  };
  await expect(createAgent({ model, store }).run('hello', { session: 's' })).rejects.toMatchObject({
    code: 'store-error',
    message: 'session "s" could not be stored: disk full; the store has it as it was before',
  });
  model.assertFinished();
});

test('R30: a pending approval that expires in a week does not keep the process alive', async () => {
  expect(await runFile(new URL('./scripts/waits-a-week.ts', import.meta.url))).toEqual({ outcome: 'pending' });
});

test('closing an agent lets go of all sessions that it alone had', async () => {
  const used = async (): Promise<number> => {
    await collect();
    return process.memoryUsage().heapUsed;
  };
  const agent = createAgent({ model: forgetfulModel(({ messages }) => `${messages.length}`.padEnd(1_000_000, 'x')) });
  const before = await used();
  for (let run = 0; run < 20; run += 1) await agent.run('go');
  expect((await used()) - before).toBeGreaterThan(15_000_000);
  await agent.close();
  expect((await used()) - before).toBeLessThan(5_000_000);
});

test('an agent that is closed leaves the sessions in a store that it was given', async () => {
  const store = memoryStore();
  const agent = createAgent({ model: scriptedModel(['one']), store });
  const { sessionId } = await agent.run('go');
  await agent.close();
  expect((await createAgent({ model: scriptedModel([]), store }).open(sessionId)).messages).toHaveLength(2);
});
