import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../../src/sessions/agent.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { collect } from '../support/collect.ts';
import { manualClock } from '../support/manual-clock.ts';
import { call, calls, toolOf } from '../support/tools.ts';

// A session that waits for somebody sleeps: its actors go, and are made again when somebody comes. Only its memory shows that.

/** How often an agent has made an actor, and how often it has made one again. */
const watchActors = ({ machine }: Agent): { made: WeakRef<object>[]; woken: () => number } => {
  const { getInitialSnapshot, restoreSnapshot } = machine;
  const made: WeakRef<object>[] = [];
  let woken = 0;
  Object.defineProperties(machine, {
    getInitialSnapshot: {
      value: (...[scope, input]: Parameters<typeof getInitialSnapshot>) => {
        made.push(new WeakRef(scope.self));
        return getInitialSnapshot(scope, input);
      },
    },
    restoreSnapshot: {
      value: (...given: Parameters<typeof restoreSnapshot>) => {
        woken += 1;
        return restoreSnapshot(...given);
      },
    },
  });
  return { made, woken: () => woken };
};

/** By then a session sleeps that may. */
const someTurnsOfTheLoop = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const clerk = (options: Partial<AgentOptions> = {}) => {
  const paid: unknown[] = [];
  const given: unknown[] = [];
  const pay = toolOf(
    'pay',
    (input, { context }) => {
      paid.push(input);
      given.push(context);
      return 'done';
    },
    { needsApproval: true },
  );
  const model = scriptedModel([calls(call('pay', { sum: 3 }), call('pay', { sum: 4 })), 'Paid.', 'You are welcome.']);
  const agent = createAgent({ model, tools: [pay], ...options });
  return { agent, paid, given, ...watchActors(agent) };
};

const waiting = async (agent: Agent, id = 'one'): Promise<Session> => {
  const session = await agent.open(id);
  await session.send('Pay.');
  expect((await session.settled()).outcome.type).toBe('pending');
  return session;
};

const approveAll = async (session: Session): Promise<void> => {
  for (const { callId, inputHash } of session.pending) await session.approve(callId, { inputHash });
};

test('R27: a session that waits lets its actor go and goes on where it was, however often it is looked at meanwhile', async () => {
  const { agent, paid, made, woken } = clerk();
  const session = await waiting(agent);
  const before = JSON.stringify(session);
  await collect();
  expect(made.map((actor) => actor.deref())).toEqual([undefined]);
  expect([session.id, session.status, session.pending.length, session.messages.length]).toEqual([
    'one',
    'waiting',
    2,
    1,
  ]);
  expect(JSON.stringify(session)).toBe(before);
  expect(woken()).toBe(0);
  expect((await session.settled()).outcome.type).toBe('pending');
  await someTurnsOfTheLoop();
  expect(JSON.stringify(session)).toBe(before);
  const [first, second] = session.pending;
  await session.approve(first?.callId ?? '');
  await someTurnsOfTheLoop();
  const left = session.pending.map(({ callId }) => callId);
  expect([session.status, left, paid]).toEqual(['waiting', [second?.callId], []]);
  await session.approve(second?.callId ?? '', { input: { sum: 5 } });
  expect((await session.settled()).text).toBe('Paid.');
  expect(paid).toEqual([{ sum: 3 }, { sum: 5 }]);
  expect(woken()).toBe(3);
});

test('a session that a run was given, and that waits, lets its actor go as well', async () => {
  const { agent, paid, made } = clerk();
  const session = await agent.open('one');
  expect((await agent.run('Pay.', { session })).outcome.type).toBe('pending');
  await collect();
  expect(made.map((actor) => actor.deref())).toEqual([undefined]);
  await approveAll(session);
  expect((await session.settled()).text).toBe('Paid.');
  expect(paid).toEqual([{ sum: 3 }, { sum: 4 }]);
});

test('whoever has asked for its actor keeps it, and it is the one that goes on', async () => {
  const { agent, woken } = clerk();
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  const { actor } = session;
  const states: unknown[] = [];
  actor.subscribe(({ value }) => states.push(value));
  await someTurnsOfTheLoop();
  expect(session.actor).toBe(actor);
  await approveAll(session);
  await session.settled();
  expect(states.at(-1)).toEqual({ done: 'answered' });
  expect(woken()).toBe(1);
});

test('R38: what is stored is the same whether a session slept or not', async () => {
  const revisionsOf = async (open: typeof memoryStore, isKept: boolean) => {
    const store = open();
    const { agent, woken } = clerk({ store, clock: manualClock() });
    const session = await waiting(agent);
    if (isKept) expect(session.actor.id).toBeTypeOf('string');
    await someTurnsOfTheLoop();
    await session.approve(session.pending[0]?.callId ?? '');
    await someTurnsOfTheLoop();
    await session.approve(session.pending[0]?.callId ?? '');
    await session.settled();
    await session.send('Thanks.');
    await session.settled();
    const stored = await store.read('one');
    const history = await store.history('one');
    expect(woken()).toBe(isKept ? 0 : 2);
    await agent.close();
    await store.close();
    return { ...stored, history };
  };
  for (const open of [memoryStore, () => sqliteStore(':memory:')]) {
    const slept = await revisionsOf(open, false);
    expect(slept.states?.length).toBeGreaterThan(1);
    expect(slept).toEqual(await revisionsOf(open, true));
  }
});

test('a command that is left in the store wakes it', async () => {
  const store = memoryStore();
  const { agent, paid, woken } = clerk({ store });
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  for (const { callId } of session.pending) await store.post('one', { type: 'approval.granted', callId });
  await someTurnsOfTheLoop();
  expect((await session.settled()).text).toBe('Paid.');
  expect([paid.length, woken()]).toEqual([2, 1]);
});

test('R27: a command that another process leaves while it falls asleep wakes it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-asleep-'));
  const stores = [sqliteStore(join(folder, 'sessions.db')), sqliteStore(join(folder, 'sessions.db'))] as const;
  const [store, elsewhere] = stores;
  const answered = Promise.withResolvers<void>();
  const { agent, woken } = clerk({
    store,
    model: scriptedModel([calls(call('pay')), 'Paid.']),
    tools: [toolOf('pay', () => answered.resolve(), { needsApproval: true })],
  });
  const session = await waiting(agent);
  await elsewhere.post('one', { type: 'approval.granted', callId: 'call_1_0' });
  // Nothing here asks the session for anything.
  await answered.promise;
  expect([(await session.settled()).text, woken()]).toEqual(['Paid.', 1]);
  await agent.close();
  for (const each of stores) await each.close();
  await rm(folder, { recursive: true });
});

test('a store watches for no session that nobody holds any more', async () => {
  const store = memoryStore();
  const watched = new Set<object>();
  const watch: typeof store.watch = (sessionId, notify) => {
    const end = store.watch?.(sessionId, notify);
    const one = { sessionId };
    watched.add(one);
    return () => {
      watched.delete(one);
      end?.();
    };
  };
  const { agent } = clerk({ store: { ...store, watch } });
  await waiting(agent);
  await someTurnsOfTheLoop();
  expect(watched.size).toBe(1);
  for (let tries = 0; tries < 10 && watched.size > 0; tries += 1) await collect();
  expect(watched.size).toBe(0);
});

test('a message that waits behind a decision is read', async () => {
  const { agent } = clerk();
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  const fate = session.send('And?');
  await someTurnsOfTheLoop();
  await approveAll(session);
  expect(await fate).toEqual({ type: 'delivered' });
  await session.settled();
  expect(session.messages.filter(({ role }) => role === 'user').length).toBe(2);
});

test('a decision that takes its time to be allowed is taken', async () => {
  const asked = Promise.withResolvers<boolean>();
  const { agent, paid } = clerk({ approvals: { authorize: () => asked.promise } });
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  const deciding = Promise.all(session.pending.map(({ callId }) => session.approve(callId)));
  await someTurnsOfTheLoop();
  asked.resolve(true);
  await deciding;
  expect((await session.settled()).text).toBe('Paid.');
  expect(paid.length).toBe(2);
});

test('what the application gave to the turn is there for its tools', async () => {
  const { agent, given, woken } = clerk();
  const context = { connection: () => 'live' };
  const { sessionId } = await agent.run('Pay.', { session: 'one', context });
  const session = await agent.open(sessionId);
  await someTurnsOfTheLoop();
  await approveAll(session);
  await session.settled();
  expect(given).toEqual([context, context]);
  expect(given[0]).toBe(context);
  expect(woken()).toBe(1);
});

test('a reader reads on over the wait', async () => {
  const { agent } = clerk();
  const session = await agent.open('one');
  const told: AgentEvent['type'][] = [];
  const read = async (): Promise<void> => {
    for await (const { type } of session.events()) told.push(type);
  };
  const reading = read();
  await session.send('Pay.');
  await session.settled();
  await someTurnsOfTheLoop();
  await approveAll(session);
  await session.settled();
  await agent.close();
  await reading;
  expect(told.filter((type) => type === 'tool-result' || type === 'finish')).toEqual([
    'finish',
    'tool-result',
    'tool-result',
    'finish',
  ]);
});

test('R30: one whose calls expire stays awake for that', async () => {
  const clock = manualClock();
  const { agent, woken } = clerk({ clock, approvals: { expireAfter: 1000 } });
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  clock.advance(1000);
  await someTurnsOfTheLoop();
  expect((await session.settled()).text).toBe('Paid.');
  expect(woken()).toBe(0);
});

test('it is closed without being woken, and stays what it was', async () => {
  const { agent } = clerk();
  const session = await waiting(agent);
  await someTurnsOfTheLoop();
  const before = JSON.stringify(session);
  await agent.close();
  expect([session.status, JSON.stringify(session)]).toEqual(['closed', before]);
  await expect(session.approve('call_1_0')).rejects.toMatchObject({ code: 'session-closed' });
});

test('its methods can be taken from it and called alone', async () => {
  const { agent } = clerk();
  const session = await waiting(agent);
  const { approve, settled } = session;
  await someTurnsOfTheLoop();
  for (const { callId } of session.pending) await approve(callId);
  expect((await settled()).text).toBe('Paid.');
});
