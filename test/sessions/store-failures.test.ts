import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { SessionConflictError } from '../../src/stores/session-conflict.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { exportSession, importSession } from '../../src/sessions/transfer.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { rejection, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

/** A durable store whose disk is full whenever the test says so. */
const brittleStore = () => {
  const inner = memoryStore();
  const disk = { isFull: false };
  const store: SessionStore = {
    ...inner,
    durable: true,
    commit: async (commit) => {
      if (disk.isFull) throw new Error('disk full');
      await inner.commit(commit);
    },
  };
  return { store, disk };
};
const full = { code: 'store-error', message: expect.stringContaining('disk full') };
const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });

describe('a document of a session that lives already', () => {
  test('R2: without durability the copy takes its place, and the old object stores nothing any more', async () => {
    const store = memoryStore();
    const agent = createAgent({ model: scriptedModel([calls(call('gate')), 'copy', 'old']), tools: [gate], store });
    await agent.run('go', { session: 's' });
    const old = await agent.open('s');
    const copy = agent.restore(saved(old));
    expect(await agent.open('s')).toBe(copy);
    await copy.approve('call_1_0');
    await copy.settled();
    await old.reject('call_1_0');
    await old.settled();
    expect(results(old.messages)[0]).toContain('rejected');
    const kept = await agent.open('s', { readOnly: true });
    expect(transcript(kept.messages)).toEqual(['user: go', 'assistant: gate{}', 'tool: gate ran', 'assistant: copy']);
  });

  test('a document that is refused takes nobody’s place', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two']), store: memoryStore() });
    await agent.run('go', { session: 's' });
    const live = await agent.open('s');
    const { state, ...rest } = saved(live);
    expect(() => agent.restore({ ...rest, state: { ...state, state: 'nowhere' } })).toThrow(
      expect.objectContaining({ code: 'incompatible-document' }),
    );
    expect(await agent.open('s')).toBe(live);
    await agent.run('more', { session: live });
    expect((await agent.open('s', { readOnly: true })).messages).toHaveLength(4);
  });

  test('R39: a durable store takes one that stands on its last revision and refuses every other', async () => {
    const { store } = brittleStore();
    const first = createAgent({ model: scriptedModel(['one', 'two', 'three']), store });
    await first.run('a', { session: 's' });
    const stale = saved(await first.open('s'));
    await first.run('b', { session: 's' });
    const before = JSON.stringify(await store.read('s'));
    const other = createAgent({ model: scriptedModel(['four']), store });
    await expect(other.run('c', { session: stale })).rejects.toBeInstanceOf(SessionConflictError);
    const { revision: _, ...unknown } = saved(await first.open('s'));
    await expect(
      createAgent({ model: scriptedModel(['four']), store }).run('c', { session: unknown }),
    ).rejects.toBeInstanceOf(SessionConflictError);
    expect(JSON.stringify(await store.read('s'))).toBe(before);
    const fresh = createAgent({ model: scriptedModel(['five']), store });
    expect((await fresh.run('c', { session: saved(await first.open('s')) })).text).toBe('five');
    // Whoever had it before can write it no more.
    await expect(first.run('d', { session: 's' })).rejects.toBeInstanceOf(SessionConflictError);
  });
});

describe('R38: a commit of a durable store that fails', () => {
  test('before a model call fails the turn, the session stays alive, and a retry goes on when the store works again', async () => {
    const { store, disk } = brittleStore();
    const model = scriptedModel(['world']);
    const agent = createAgent({ model, store });
    disk.isFull = true;
    await expect(agent.run('hello', { session: 's' })).rejects.toMatchObject(full);
    expect(model.requests).toHaveLength(0);
    expect(await store.read('s')).toBeUndefined();
    const session = await agent.open('s');
    expect(session.status).toBe('settled');
    disk.isFull = false;
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expect((await agent.open('s', { readOnly: true })).messages).toHaveLength(2);
  });

  test('before a tool: the call is told not to have been started, and does not run', async () => {
    const { store, disk } = brittleStore();
    let runs = 0;
    const model = scriptedModel([
      () => {
        disk.isFull = true;
        return calls(call('counted'));
      },
      'world',
    ]);
    const agent = createAgent({ model, tools: [toolOf('counted', () => (runs += 1))], store });
    await expect(agent.run('hello', { session: 's' })).rejects.toMatchObject(full);
    const session = await agent.open('s');
    expect(results(session.messages)).toEqual([expect.stringContaining('was not started')]);
    disk.isFull = false;
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expect(runs).toBe(0);
  });

  test('after a tool: its result is not lost, and the tool does not run again', async () => {
    const { store, disk } = brittleStore();
    let runs = 0;
    const counted = toolOf('counted', () => {
      disk.isFull = true;
      return (runs += 1);
    });
    const agent = createAgent({ model: scriptedModel([calls(call('counted')), 'world']), tools: [counted], store });
    await expect(agent.run('hello', { session: 's' })).rejects.toMatchObject(full);
    disk.isFull = false;
    const session = await agent.open('s');
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expect(runs).toBe(1);
    expect(results((await agent.open('s', { readOnly: true })).messages)).toEqual(['1']);
  });

  test('of a decision: whoever decided is told, and the tool does not run', async () => {
    const { store, disk } = brittleStore();
    const held = heldTool('held', { needsApproval: true });
    const model = scriptedModel([calls(call('held')), 'world']);
    const agent = createAgent({ model, tools: [held.tool, F1], store });
    const { sessionId } = await agent.run('hello');
    const session = await agent.open(sessionId);
    disk.isFull = true;
    await expect(session.approve('call_1_0')).rejects.toMatchObject(full);
    await expect(session.settled()).rejects.toMatchObject(full);
    expect(held.begun).toHaveLength(0);
    disk.isFull = false;
    await session.retry();
    expect((await session.settled()).text).toBe('world');
    expect(results(session.messages)).toEqual([expect.stringContaining('was not started')]);
  });
});

describe('what a store of one’s own throws is a `store-error` with its cause, wherever it is asked', () => {
  const kept = memoryStore();
  const broken = new Error('no route to host');
  const fails = async (): Promise<never> => {
    throw broken;
  };
  const told = { code: 'store-error', message: expect.stringContaining('no route to host'), cause: broken };
  const agentOver = (changes: Partial<SessionStore>) =>
    createAgent({ model: scriptedModel(['one', 'two']), store: { ...kept, durable: true, ...changes } });

  test('when a session is opened, looked at, forked or given as a document', async () => {
    await agentOver({}).run('go', { session: 's' });
    const document = await exportSession(kept, 's');
    for (const agent of [agentOver({ read: fails }), agentOver({ inbox: fails })]) {
      expect(await rejection(agent.open('s'))).toMatchObject(told);
      expect(await rejection(agent.run('more', { session: 's' }))).toMatchObject(told);
    }
    const unread = agentOver({ read: fails });
    expect(await rejection(unread.open('s', { at: 1 }))).toMatchObject(told);
    expect(await rejection(unread.restore(document).fork({ at: 1 }))).toMatchObject(told);
    expect(await rejection(unread.run('more', { session: document }))).toMatchObject(told);
  });

  test('what is no store, or no option, is refused where a document is to leave it or to come into it', async () => {
    const document = await exportSession(kept, 's');
    for (const work of [
      () => exportSession('sessions.db' as never, 's'),
      () => exportSession({ read: kept.read } as never, 's'),
      () => exportSession(kept, 's', null as never),
      () => exportSession(kept, 's', { at: '1' as never }),
      () => importSession(undefined as never, document),
      () => importSession(kept, document, { as: 't' } as object),
    ])
      expect(await rejection(work())).toMatchObject({ code: 'invalid-option' });
  });

  test('when a document leaves it or comes into it', async () => {
    const document = await exportSession(kept, 's');
    expect(await rejection(exportSession({ ...kept, read: fails }, 's'))).toMatchObject(told);
    expect(await rejection(importSession({ ...kept, read: fails }, document, { id: 't' }))).toMatchObject(told);
    expect(await rejection(importSession({ ...kept, commit: fails }, document, { id: 't' }))).toMatchObject(told);
  });

  test('a watch that throws, at its begin or its end, stops no session and no process', async () => {
    const uncaught: unknown[] = [];
    const hear = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', hear);
    const throws = (): never => {
      throw broken;
    };
    for (const watch of [throws, () => throws]) {
      const agent = agentOver({ watch });
      expect((await agent.run('go', { session: 'u' })).outcome).toEqual({ type: 'answered' });
      await agent.close();
    }
    await setImmediate();
    process.off('uncaughtException', hear);
    expect(uncaught).toEqual([]);
  });
});

test('of two that import a session at once, one is told that it exists', async () => {
  const store = memoryStore();
  await createAgent({ model: scriptedModel(['one']), store }).run('go', { session: 's' });
  const document = await exportSession(store, 's');
  const imports = await Promise.allSettled([1, 2].map(() => importSession(store, document, { id: 't' })));
  expect(imports.map((each) => (each.status === 'rejected' ? each.reason : each.value))).toEqual([
    't',
    expect.objectContaining({ code: 'session-exists' }),
  ]);
});
