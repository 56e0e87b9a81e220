import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import { systemClock } from '../../src/actors/alarm.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { OutsideEvent } from '../../src/machines/agent-context.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { commandOutcome } from '../../src/stores/command-outcome.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { type Message, textOf } from '../../src/messages/message.ts';
import { violations } from '../../src/messages/violations.ts';
import { forgetfulModel, modelByHistory, modelOfTurns } from '../support/models.ts';
import { runFile } from '../support/process.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';

const script = (name: string): URL => new URL(`./scripts/${name}.ts`, import.meta.url);

let folder = '';
let path = '';
let stores: SessionStore[] = [];
const open = (): SessionStore => {
  const store = sqliteStore(path);
  stores.push(store);
  return store;
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-owners-'));
  path = join(folder, 'sessions.db');
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const repeating = forgetfulModel(({ messages }) => {
  const last = messages.findLast(({ role }) => role === 'user');
  return `You said ${last === undefined ? 'nothing' : textOf(last)}.`;
});

const said = (messages: readonly Message[]): string[] => messages.map((message) => textOf(message));

/** Every message once, each with its answer before the next one. */
const expectUnmixed = (messages: readonly Message[], users: readonly string[]): void => {
  expect(violations(messages)).toEqual([]);
  const spoken = messages.filter(({ role }) => role === 'user').map((message) => textOf(message));
  expect(spoken.toSorted()).toEqual([...users].toSorted());
  const texts = messages.flatMap((message) =>
    message.role === 'tool' || textOf(message) === '' ? [] : textOf(message),
  );
  expect(texts).toEqual(spoken.flatMap((text) => [text, `You said ${text}.`]));
};

test('R39: two processes race in one session; no message is lost, doubled or mixed, and the loser is told', async () => {
  const count = Number(process.env['RACE_MESSAGES'] ?? 12);
  const names = ['left', 'right'];
  const reports = await Promise.all(names.map((name) => runFile(script('race-session'), [path, name, `${count}`])));
  const store = open();
  const session = await createAgent({ model: repeating, store }).open('shared', { readOnly: true });
  expectUnmixed(
    session.messages,
    names.flatMap((name) => Array.from({ length: count }, (_, index) => `${name} ${index + 1}`)),
  );
  const commits = reports.reduce((sum, report) => sum + Number(report['commits']), 0);
  const stored = await store.read('shared');
  expect(stored?.revision).toBe(commits);
  if (process.env['RACE_MESSAGES'] !== undefined) console.log(JSON.stringify(reports));
}, 200_000);

describe('R39: two agents of one process on one store', () => {
  test('whoever comes later has the session; the other one is told by approve, reject and respond', async () => {
    const store = open();
    const pay = toolOf('pay', () => 'paid', { needsApproval: true });
    const four = calls(call('pay'), call('pay'), call('pay'), call('pay'));
    const make = () => createAgent({ store, model: modelOfTurns(four, 'Paid.'), tools: [pay] });
    const [first, second] = [make(), make()];
    const { sessionId } = await first.run('Pay.');
    const lose = [
      (session: Session) => session.approve('call_1_3'),
      (session: Session) => session.reject('call_1_3'),
      (session: Session) => session.respond('call_1_3', 'paid already'),
    ];
    for (const [index, decide] of lose.entries()) {
      const loser = await first.open(sessionId);
      const winner = await second.open(sessionId);
      await winner.approve(`call_1_${index}`);
      expect(await rejection(decide(loser))).toMatchObject({ code: 'session-conflict', name: 'SessionConflictError' });
      expect(loser.status).toBe('closed');
    }
    const last = await first.open(sessionId);
    expect(last.pending.map(({ callId }) => callId)).toEqual(['call_1_3']);
    await last.approve('call_1_3');
    expect((await last.settled()).text).toBe('Paid.');
  });

  test('run and send of the loser reject, its model is not asked, and nothing of it is stored', async () => {
    const store = open();
    const asked: string[] = [];
    const make = (name: string) =>
      createAgent({
        store,
        model: forgetfulModel(({ messages }) => {
          asked.push(`${name}: ${textOf(messages.at(-1) ?? { role: 'user', content: '' })}`);
          return 'Yes.';
        }),
      });
    const [first, second] = [make('first'), make('second')];
    const { sessionId } = await first.run('One?');
    for (const lose of [
      (session: Session) => first.run('Lost?', { session }),
      (session: Session) => session.send('Lost?'),
    ]) {
      const loser = await first.open(sessionId);
      await second.run('Two?', { session: sessionId });
      expect(await rejection(lose(loser))).toMatchObject({ code: 'session-conflict', name: 'SessionConflictError' });
    }
    expect(asked).toEqual(['first: One?', 'second: Two?', 'second: Two?']);
    const { messages } = await first.open(sessionId);
    expect(said(messages)).toEqual(['One?', 'Yes.', 'Two?', 'Yes.', 'Two?', 'Yes.']);
  });
});

test('R39: whoever still holds a deleted session writes nothing into the one that has its id now, however many revisions that has', async () => {
  const make = (ahead: number) => {
    const clock = { ...systemClock, now: () => Date.now() + ahead };
    return createAgent({ store: open(), model: repeating, clock });
  };
  const [first, second] = [make(0), make(1000)];
  await first.run('A secret.', { session: 'shared' });
  const held = await first.open('shared');
  const document = held.toJSON();
  await stores[0]?.delete('shared');
  await second.run('Hello.', { session: 'shared' });
  expect((await stores[0]?.read('shared'))?.revision).toBe(document.revision);
  const writers = [() => held.send('What was it?'), () => first.restore(document).send('What was it?')];
  for (const write of writers) expect(await rejection(write())).toMatchObject({ code: 'session-conflict' });
  expect(said((await first.open('shared')).messages)).toEqual(['Hello.', 'You said Hello..']);
});

describe('R39: a session is opened by a second process while the first works', () => {
  const working = async (annotations: { readOnly?: boolean }) => {
    const held = heldTool('work', { annotations });
    const asked: string[] = [];
    const make = (name: string, tool = held.tool) =>
      createAgent({
        store: open(),
        model: forgetfulModel(({ messages }) => {
          asked.push(name);
          return messages.at(-1)?.role === 'tool' ? 'Worked.' : calls(call('work'));
        }),
        tools: [tool],
      });
    const first = make('first');
    const running = first.run('Work.', { session: 'shared' });
    running.catch(() => undefined);
    await held.whenBegun(1);
    return { held, asked, make, first, running };
  };

  test('the second one has it, and the first is fenced before its next effect', async () => {
    const { held, asked, make, running } = await working({});
    const second = await make('second').open('shared');
    const { text } = await second.settled();
    expect(text).toBe('Worked.');
    held.end(0);
    expect(await rejection(running)).toMatchObject({ code: 'session-conflict' });
    expect(asked).toEqual(['first', 'second']);
    expect(held.begun).toHaveLength(1);
    expect(JSON.stringify(second.messages)).toContain('outcome-unknown');
    expect(violations(second.messages)).toEqual([]);
  });

  test('one that only looks disturbs nobody', async () => {
    const { held, asked, make, running } = await working({});
    const other = make('second');
    const before = (await stores[0]?.read('shared'))?.revision;
    const view = await other.open('shared', { readOnly: true });
    expect(view.status).toBe('busy');
    expect(await rejection(view.send('Hello?'))).toMatchObject({ code: 'read-only' });
    const all = await other.open('shared', { at: 1 });
    expect(all.messages).toHaveLength(1);
    expect((await stores[0]?.read('shared'))?.revision).toBe(before);
    held.end(0);
    expect((await running).text).toBe('Worked.');
    expect(asked).toEqual(['first', 'first']);
    expect(view.status).toBe('busy');
  });
});

describe('R31: commands that another process leaves in the store', () => {
  const paying = () => {
    let paid = 0;
    const pay = toolOf('pay', () => `paid ${++paid}`, { needsApproval: true });
    const make = (store = open()) =>
      createAgent({
        store,
        model: modelByHistory([calls(call('pay', { to: 'Mei' })), 'Paid.', 'More.']),
        tools: [pay],
      });
    return { make, paid: () => paid };
  };
  const post = (...events: object[]) => runFile(script('post-command'), [path, 'shared', JSON.stringify(events)]);
  const granted = { type: 'approval.granted', callId: 'call_1_0' } as const;

  test('reach the owner that lives, and are carried out once', async () => {
    const { make, paid } = paying();
    const agent = make();
    await agent.run('Pay.', { session: 'shared' });
    const session = await agent.open('shared');
    const events: AgentEvent[] = [];
    void (async () => {
      for await (const event of session.events()) events.push(event);
    })();
    await post(
      { ...granted, callId: 'call_9_9' },
      { ...granted, inputHash: 'of other arguments' },
      { type: 'nonsense' },
      granted,
    );
    await waitFor(session.actor, (snapshot) => snapshot.hasTag('settled'));
    expect((await session.settled()).text).toBe('Paid.');
    expect(paid()).toBe(1);
    expect(await stores[0]?.inbox('shared')).toEqual([]);
    const errors = events.flatMap((event) => (event.type === 'error' ? event.error.code : []));
    expect(errors).toEqual(['unknown-call', 'call-changed', 'invalid-option']);
    expect(await stores[0]?.refusals('shared')).toMatchObject([
      { event: { callId: 'call_9_9' }, code: 'unknown-call', message: expect.stringContaining('call_9_9') },
      { event: { inputHash: 'of other arguments' }, code: 'call-changed' },
      { event: { type: 'nonsense' }, code: 'invalid-option' },
    ]);
    await agent.close();
    expect((await make().open('shared')).messages).toHaveLength(4);
    expect(paid()).toBe(1);
  });

  test('wait for the next opener where none lives; what it refuses is told to whoever reads its events', async () => {
    const { make, paid } = paying();
    const first = make();
    await first.run('Pay.', { session: 'shared' });
    await first.close();
    await post({ ...granted, callId: 'call_9_9' }, granted);
    expect(await stores[0]?.inbox('shared')).toHaveLength(2);
    const session = await make().open('shared');
    const reader = session.events()[Symbol.asyncIterator]();
    expect((await reader.next()).value).toMatchObject({ type: 'error', error: { code: 'unknown-call' } });
    expect((await session.settled()).text).toBe('Paid.');
    expect(paid()).toBe(1);
    expect(await stores[0]?.inbox('shared')).toEqual([]);
  });

  test('that are refused are kept with the reason, whatever they ask for; whoever posted one can learn it', async () => {
    const { make } = paying();
    const first = make();
    await first.run('Pay.', { session: 'shared' });
    await first.close();
    const store = open();
    const events = [
      { type: 'turn.retry' },
      { type: 'call.cancel', callId: 'call_9_9' },
      { type: 'message.withdraw', id: 'nobody' },
      { type: 'session.close' },
      { type: 'user.message', content: '' },
      { type: 'user.message', content: 'And?' },
      { type: 'user.message', content: 'And?', options: { limits: { maxIterations: 'many' } } },
      null,
      { ...granted, input: 'no object' },
      granted,
      { type: 'approval.rejected', callId: 'call_1_0' },
    ] as OutsideEvent[];
    const ids: number[] = [];
    for (const event of events) ids.push(await store.post('shared', event));
    expect(await commandOutcome(store, 'shared', ids[0] ?? 0)).toEqual({ type: 'waiting' });
    const next = createAgent({
      store: open(),
      model: modelByHistory([calls(call('pay', { to: 'Mei' })), 'Paid.']),
      tools: [toolOf('pay', () => 'paid', { needsApproval: true })],
      approvals: { onMessage: 'refuse' },
    });
    const session = await next.open('shared');
    expect((await session.settled()).text).toBe('Paid.');
    const outcomes = await Promise.all(ids.map((id) => commandOutcome(store, 'shared', id)));
    expect(outcomes.map((outcome) => (outcome.type === 'refused' ? outcome.code : outcome.type))).toEqual([
      'nothing-to-retry',
      'unknown-call',
      'invalid-message',
      'session-busy',
      'invalid-message',
      'session-busy',
      'invalid-option',
      'invalid-option',
      'invalid-input',
      'taken',
      'decision-conflict',
    ]);
    expect(outcomes[8]).toMatchObject({ event: { input: 'no object' }, message: expect.stringContaining('pay') });
    await next.close();
    const [last = 0] = ids.slice(-1);
    for (const [id, code] of [
      [last + 1, 'unknown-command'],
      [4242, 'unknown-command'],
      ...[0, -1, NaN, 1.5, 'x' as unknown as number].map((each) => [each, 'invalid-option'] as const),
    ] as const) {
      expect(await rejection(commandOutcome(store, 'shared', id))).toMatchObject({
        code,
        message: expect.stringMatching(new RegExp(`command.*${id}`)),
      });
    }
    for (const within of [NaN, -1, 'long' as unknown as number]) {
      expect(await rejection(commandOutcome(store, 'shared', ids[0] ?? 0, { within }))).toMatchObject({
        code: 'invalid-option',
      });
    }
    const { lastCommand: _, ...silent } = store;
    expect(await commandOutcome(silent, 'shared', 4242)).toEqual({ type: 'taken' });
    await store.delete('shared');
    expect(await rejection(commandOutcome(store, 'shared', ids[0] ?? 0))).toMatchObject({ code: 'unknown-session' });
  });

  test('that came while the session rested here are taken up with its next turn', async () => {
    const store = open();
    const agent = createAgent({ store, model: repeating });
    await agent.run('one', { session: 'shared' });
    const session = await agent.open('shared');
    await post({ type: 'user.message', content: 'left' });
    expect((await agent.run('two', { session })).text).toBe('You said two.');
    await waitFor(session.actor, (snapshot) => snapshot.context.turn.number === 3 && snapshot.hasTag('settled'));
    expect(said(session.messages)).toContain('You said left.');
    expect(await store.inbox('shared')).toEqual([]);
    await agent.close();
  });

  test('are left for the next opener where the session closes before it is known whether they are allowed', async () => {
    const { make, paid } = paying();
    const asked = Promise.withResolvers<void>();
    const allowed = Promise.withResolvers<boolean>();
    const store = open();
    const agent = createAgent({
      store,
      model: modelByHistory([calls(call('pay', { to: 'Mei' }))]),
      tools: [toolOf('pay', () => 'paid', { needsApproval: true })],
      approvals: {
        authorize: () => {
          asked.resolve();
          return allowed.promise;
        },
      },
    });
    await agent.run('Pay.', { session: 'shared' });
    const session = await agent.open('shared');
    const id = await store.post('shared', granted);
    await asked.promise;
    await session[Symbol.asyncDispose]();
    allowed.resolve(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await store.refusals('shared')).toEqual([]);
    expect(await commandOutcome(store, 'shared', id)).toEqual({ type: 'waiting' });
    await (await make().open('shared')).settled();
    expect(await commandOutcome(store, 'shared', id)).toEqual({ type: 'taken' });
    expect(paid()).toBe(1);
  });

  test('leave the inbox with the very commit that has what they did: no death lies between', async () => {
    const { make } = paying();
    const first = make();
    await first.run('Pay.', { session: 'shared' });
    await first.close();
    const store = open();
    const message = await store.post('shared', {
      type: 'user.message',
      messages: [{ role: 'user', content: 'And more?' }],
      mode: 'queue',
    });
    const decision = await store.post('shared', { type: 'approval.granted', callId: 'call_1_0', by: 'the manager' });
    const takenWith: Record<string, readonly number[]> = {};
    const watched: SessionStore = {
      ...store,
      commit: async (commit) => {
        for (const what of ['And more?', 'the manager']) {
          if (commit.state.includes(what) || commit.messages.some((text) => text.includes(what)))
            takenWith[what] ??= commit.taken;
        }
        await store.commit(commit);
      },
    };
    const session = await make(watched).open('shared');
    await waitFor(session.actor, (snapshot) => snapshot.hasTag('settled') && snapshot.context.inbox.length === 0);
    expect((await session.settled()).text).toBe('Paid.');
    expect(takenWith['And more?']).toContain(message);
    expect(takenWith['the manager']).toContain(decision);
    expect(said(session.messages).filter((text) => text === 'And more?')).toEqual(['And more?']);
    expect(await store.inbox('shared')).toEqual([]);
  });
});
