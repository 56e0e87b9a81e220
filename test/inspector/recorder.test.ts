import { createActor, createMachine, assign, setup, fromPromise } from 'xstate';
import { expect, test } from 'vitest';
import { type ChatModel, createAgent } from '../../src/index.ts';
import { agentsOf, callsOfRound, tagsOf } from '../../src/inspector/actor-tree.ts';
import { approvalsOf } from '../../src/inspector/approvals.ts';
import { conversationOf } from '../../src/inspector/conversation.ts';
import { encodeEvent } from '../../src/inspector/encode.ts';
import { createEventLog } from '../../src/inspector/event-log.ts';
import { gaugesOf, usageOf } from '../../src/inspector/gauges.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { entryOf } from '../../src/inspector/timeline.ts';
import { emptyView, reduceView } from '../../src/inspector/view-state.ts';
import { waterfallOf } from '../../src/inspector/waterfall.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { eventsOf, tripAgent, viewOf } from './support.ts';

/** A trip up to the approval, and what a viewer has of it. */
const waitingTrip = async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  recorder.describe({ ...inspected });
  const session = await agent.open('trip-1', { inspect: recorder.inspect });
  await session.send('Compare, then book.');
  await session.settled();
  return { recorder, agent, session };
};

test('every state lights up in order, also those that are left at once, with the guard that was taken', async () => {
  const { recorder, session } = await waitingTrip();
  await session.approve('call_2_0');
  await session.settled();
  let view = emptyView;
  const states: string[] = [];
  const guards: (string | undefined)[] = [];
  for (const event of eventsOf(recorder.log)) {
    view = reduceView(view, event);
    const entry = entryOf(view, event);
    if (entry?.kind !== 'step' || entry.name !== 'trip' || states.at(-1) === entry.to) continue;
    states.push(entry.to);
    guards.push(entry.guard);
  }
  expect(states).toEqual([
    'idle',
    'thinking.asking',
    'acting',
    'observing.counting',
    'thinking.asking',
    'acting',
    'awaiting-approval',
    'acting',
    'observing.counting',
    'thinking.asking',
    'done.answered',
  ]);
  expect(guards).toContain('onlyPeopleLeft');
  expect(guards).toContain('isAnswer');
});

test('what is shown while a call waits: conversation, calls with results, approval, gauges, usage, waterfall, tags', async () => {
  const { recorder } = await waitingTrip();
  const view = viewOf(recorder.log);
  const session = view.sessions['trip-1'];
  const agent = session === undefined ? undefined : agentsOf(session)[0];
  if (session === undefined || agent === undefined) throw new Error('there is no agent');

  const spoken = conversationOf(session, agent);
  expect(spoken.map(({ role, isOpen }) => [role, isOpen])).toEqual([
    ['user', false],
    ['assistant', false],
    ['assistant', 'round'],
  ]);
  expect(spoken[1]?.parts.slice(1)).toMatchObject([
    { tool: 'GetWeather', status: 'ok', output: { type: 'json', value: { location: 'Suzhou' } } },
    { tool: 'GetWeather', status: 'ok', output: { type: 'json', value: { location: 'Hangzhou' } } },
  ]);
  expect(approvalsOf(view, session)).toMatchObject([
    {
      callId: 'call_2_0',
      tool: 'BookTrain',
      input: { to: 'Hangzhou', seats: 1 },
      canEdit: true,
      inputSchema: { properties: { seats: { maximum: 9 } } },
    },
  ]);
  expect(gaugesOf(view, agent, view.at).slice(0, 4)).toEqual([
    { name: 'Rounds', value: 1, max: 8, unit: 'count' },
    { name: 'Errors in a row', value: 0, max: undefined, unit: 'count' },
    { name: 'Tool calls', value: 3, max: undefined, unit: 'count' },
    { name: 'Tokens', value: 860, max: 20_000, unit: 'tokens' },
  ]);
  expect(usageOf(agent)).toMatchObject({ input: 800, output: 60, calls: 2 });
  expect(waterfallOf(session, agent, view.at)?.rows.map(({ bars }) => bars.map(({ kind }) => kind))).toEqual([
    ['checks', 'waits'],
  ]);
  expect(tagsOf(agent.states, view.charts[agent.chart ?? '']?.nodes ?? [])).toEqual(['waiting']);
});

test('two calls of one tool are two approvals, each with a hash of its own arguments', async () => {
  const recorder = createRecorder();
  const pay = toolOf('pay', () => 'paid', { needsApproval: true });
  const model = scriptedModel([calls(call('pay', { sum: 1 }), call('pay', { sum: 2 }))]);
  await createAgent({ model, tools: [pay] }).run('Pay both.', { session: 's', inspect: recorder.inspect });
  const view = viewOf(recorder.log);
  const session = view.sessions['s'];
  const approvals = session === undefined ? [] : approvalsOf(view, session);
  expect(approvals.map(({ callId, input }) => [callId, input])).toEqual([
    ['call_1_0', { sum: 1 }],
    ['call_1_1', { sum: 2 }],
  ]);
  expect(new Set(approvals.map(({ inputHash }) => inputHash)).size).toBe(2);
});

test('a call that failed is told with its words, one that tries again with its tries', async () => {
  const recorder = createRecorder();
  const flaky = toolOf(
    'flaky',
    (_, { attempt }) => {
      if (attempt < 3) throw new Error('busy');
      return 'fine';
    },
    { retry: { attempts: 3, initialDelay: 1 } },
  );
  const broken = toolOf('broken', () => {
    throw new Error('Oh no!');
  });
  const agent = createAgent({
    model: scriptedModel([calls(call('flaky'), call('broken')), 'over']),
    tools: [flaky, broken],
  });
  const session = await agent.open('s', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  const shown = viewOf(recorder.log).sessions['s'];
  const root = shown === undefined ? undefined : agentsOf(shown)[0];
  const rows = shown === undefined || root === undefined ? [] : callsOfRound(shown, root);
  expect(rows.map(({ tool, status, attempt, error }) => [tool, status, attempt, error])).toEqual([
    ['flaky', 'ok', 3, undefined],
    ['broken', 'failed', 1, 'Oh no!'],
  ]);
});

test('an event that no state takes is told as ignored', () => {
  const recorder = createRecorder();
  const actor = createActor(createMachine({ id: 'm', initial: 'a', states: { a: {} } }), { inspect: recorder.inspect });
  actor.start();
  actor.send({ type: 'approve', why: 'nobody asked' });
  expect(eventsOf(recorder.log).at(-1)).toMatchObject({ type: 'ignored', event: 'approve' });
});

test('an actor that never starts is not told', () => {
  const recorder = createRecorder();
  createActor(createMachine({ id: 'm', initial: 'a', states: { a: {} } }), { inspect: recorder.inspect });
  expect(eventsOf(recorder.log)).toEqual([]);
});

test('whatever a context holds, sending goes on and the log stays JSON', () => {
  const recorder = createRecorder();
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const odd = [
    cyclic,
    1n,
    new Map([[{}, new Set([Symbol('x')])]]),
    new Error('inside'),
    'x'.repeat(10_000_000),
    Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('getter');
      },
    }),
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('proxy');
        },
      },
    ),
  ];
  const machine = setup({
    types: { context: {} as { value: unknown }, events: {} as { type: 'put'; value: unknown } },
  }).createMachine({
    id: 'odd',
    context: { value: 0 },
    on: { put: { actions: assign(({ event }) => ({ value: event.value })) } },
  });
  const actor = createActor(machine, { inspect: recorder.inspect }).start();
  for (const value of odd) {
    actor.send({ type: 'put', value });
    expect(actor.getSnapshot().context.value === value).toBe(true);
  }
  const lines = eventsOf(recorder.log).map(encodeEvent);
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, index) => index + 1));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40_000);
});

test('secrets in arguments and contexts do not leave the process', async () => {
  const recorder = createRecorder();
  const model = scriptedModel([calls(call('login', { user: 'ann', password: 'hunter2', apiKey: 'k-123' })), 'ok']);
  const agent = createAgent({ model, tools: [toolOf('login', () => ({ token: 'tok-999' }))] });
  await agent.run('Log in.', { inspect: recorder.inspect });
  const text = eventsOf(recorder.log).map(encodeEvent).join('\n');
  expect(['hunter2', 'k-123', 'tok-999'].filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).toContain('ann');
});

test('secrets do not leave the process piece by piece', async () => {
  const recorder = createRecorder();
  const input = {
    apiKey: 'hunter2',
    list: [{ token: { of: 'hunter3' }, text: 'a: "b", {c}' }],
    password: 4711,
    note: 'last',
  };
  const json = JSON.stringify(input);
  const text = 'Use sk-proj-1234567890abcdefghij, or Bearer abcdefghijklmnopqrstuvwxyz';
  const model: ChatModel = {
    name: 'pieces',
    generate: () => Promise.reject(new Error('asked whole')),
    async *stream({ messages }) {
      if (messages.length === 1) {
        for (const piece of json) yield { type: 'tool-input-delta', index: 0, toolName: 'login', text: piece };
        const content = [{ type: 'tool-call' as const, toolCallId: 'c', toolName: 'login', input }];
        yield { type: 'finish', reply: { message: { role: 'assistant', content }, finishReason: 'tool-calls' } };
        return;
      }
      for (const piece of text) yield { type: 'text-delta', text: piece };
      yield { type: 'finish', reply: { message: { role: 'assistant', content: text }, finishReason: 'stop' } };
    },
  };
  const progress = toolOf('login', (_, ctx) => ctx.progress({ token: 'hunter5', done: 1 }));
  const agent = createAgent({ model, tools: [progress] });
  for await (const _ of agent.stream('go', { inspect: recorder.inspect }));
  const encoded = eventsOf(recorder.log).map((event) => JSON.parse(encodeEvent(event)) as ProtocolEvent);
  const deltas = encoded.flatMap((event) => (event.type === 'delta' ? [event] : []));
  const told = (kind: string): string => deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join('');
  expect(told('tool-input')).toBe(
    '{"apiKey":"••••••","list":[{"token":"••••••","text":"a: \\"b\\", {c}"}],"password":"••••••","note":"last"}',
  );
  expect(told('text')).toBe('Use ••••••, or ••••••');
  expect(told('progress')).toBe('{"token":{"$hidden":"••••••"},"done":1}');
});

test('what breaks in the recorder is told as a failure and touches nothing', () => {
  const log = createEventLog();
  let isBroken = false;
  const recorder = createRecorder({
    ...log,
    append: (told) => {
      if (isBroken && told.type === 'step') throw new Error('disk full');
      log.append(told);
    },
  });
  const actor = createActor(createMachine({ id: 'm', initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } }), {
    inspect: recorder.inspect,
  }).start();
  isBroken = true;
  actor.send({ type: 'go' });
  expect(actor.getSnapshot().value).toBe('b');
  expect(eventsOf(log).at(-1)).toMatchObject({ type: 'failure', message: 'disk full' });
});

test('deltas are heard where the application reads them, and become few events', async () => {
  const text = Array.from({ length: 400 }, (_, index) => `word${index} `).join('');
  const recorder = createRecorder();
  const agent = createAgent({ model: scriptedModel([text, text]) });
  const stream = agent.stream('go', { inspect: recorder.inspect, session: 's' });
  for await (const _ of stream);
  const deltas = eventsOf(recorder.log).filter(({ type }) => type === 'delta');
  expect(deltas.map((event) => (event.type === 'delta' ? event.text : '')).join('')).toBe(text);
  expect(deltas.length).toBeLessThan(10);

  // A model that is asked whole stays so.
  const before = recorder.log.last;
  await agent.run('again', { session: 's' });
  const later = eventsOf(recorder.log).slice(before);
  expect(later.length).toBeGreaterThan(0);
  expect(later.filter(({ type }) => type === 'delta')).toEqual([]);
});

test('an agent inside a machine of your own is shown as an agent', async () => {
  const recorder = createRecorder();
  const { agent } = tripAgent();
  const parent = setup({ actors: { agent: agent.machine } }).createMachine({
    id: 'parent',
    initial: 'working',
    states: {
      working: { invoke: { id: 'agent', src: 'agent', input: { message: 'go', singleTurn: true }, onDone: 'over' } },
      over: { type: 'final' },
    },
  });
  const actor = createActor(parent, { inspect: recorder.inspect }).start();
  const child = actor.getSnapshot().children['agent'];
  await new Promise<void>((resolve) => {
    child?.subscribe((snapshot) => {
      if (snapshot.hasTag('waiting')) resolve();
    });
  });
  const view = viewOf(recorder.log);
  const [session] = Object.values(view.sessions);
  expect(session === undefined ? [] : approvalsOf(view, session).map(({ tool }) => tool)).toEqual(['BookTrain']);
  expect(session === undefined ? [] : agentsOf(session)).toHaveLength(1);
});

test('an actor that is inspected late is told from where it is', async () => {
  const recorder = createRecorder();
  const machine = setup({ actors: { wait: fromPromise(() => new Promise(() => undefined)) } }).createMachine({
    id: 'late',
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: { invoke: { id: 'wait', src: 'wait' }, on: { go: 'c' } }, c: {} },
  });
  const actor = createActor(machine).start();
  actor.send({ type: 'go' });
  actor.system.inspect(recorder.inspect);
  actor.send({ type: 'go' });
  const [session] = Object.values(viewOf(recorder.log).sessions);
  expect(session?.actors[session.root]?.states).toEqual(['late.c']);
});
