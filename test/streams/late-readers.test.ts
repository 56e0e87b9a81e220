import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { rejection, reopened } from '../support/sessions.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { told } from './told.ts';

const gate = toolOf('gate', (input) => ({ gate: input }), { needsApproval: true });

const isEnd = (event: AgentEvent): boolean => event.type === 'finish' && event.result.outcome.type !== 'pending';

/** Reads until the turn rests. */
const readOut = async (
  events: AsyncIterable<AgentEvent>,
  hear: (event: AgentEvent) => unknown,
): Promise<AgentEvent[]> => {
  const read: AgentEvent[] = [];
  for await (const event of events) {
    read.push(event);
    await hear(event);
    if (isEnd(event)) break;
  }
  return read;
};

const tripScript = () =>
  scriptedModel([
    { text: 'I look at it first.', reasoning: 'one thing after the other', toolCalls: [call('F1')] },
    { text: 'Now the gate.', toolCalls: [call('gate', { to: 'Bern' })] },
    { toolCalls: [call('gate', { to: 'Basel' })] },
    { toolCalls: [call('missing')] },
    'All is done and well.',
  ]);

/** Decides as it is asked: the first gate with an edit, the second not at all. */
const decide = async (session: Session, event: AgentEvent): Promise<void> => {
  if (event.type !== 'approval-request') return;
  if (event.callId === 'call_2_0') await session.approve(event.callId, { input: { to: 'Thun' }, by: 'ann' });
  else await session.reject(event.callId, { reason: 'not there', by: 'ben' });
};

describe('a reader who joins late', () => {
  test('is told the same as one who was there from the beginning, wherever it joins', async () => {
    const agent = createAgent({ model: tripScript(), tools: [F1, gate] });
    const session = await agent.open();
    const joined: Promise<AgentEvent[]>[] = [];
    const join = (): void => {
      joined.push(readOut(session.events({ from: 'turn' }), () => undefined));
    };
    const reading = readOut(session.events(), async (event) => {
      if (!isEnd(event)) join();
      await decide(session, event);
    });
    await session.send('go');
    const first = await reading;
    join();
    const whole = told(first);
    expect(whole).toContain('text: All is done and well.');
    expect(whole.filter((line) => line.includes('ann'))).toHaveLength(1);
    expect(joined.length).toBeGreaterThan(40);
    for (const events of await Promise.all(joined)) {
      expect(events[0]?.type).toBe('joined');
      expect(told(events)).toEqual(whole);
    }
  });

  test('is told what a restored session waits for', async () => {
    const agent = createAgent({ model: tripScript(), tools: [F1, gate] });
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const before: AgentEvent[] = [];
    for await (const event of session.stream()) before.push(event);
    const after: AgentEvent[] = [];
    for await (const event of reopened(agent, session).stream()) after.push(event);
    expect(told(after)).toEqual(told(before));
    expect(told(after).at(-1)).toContain('call_2_0 asks');
    expect(after.map(({ type }) => type).filter((type) => type === 'finish')).toHaveLength(1);
  });

  test('knows which events only tell again, and has the messages of the turn', async () => {
    const held = heldTool('held');
    const agent = createAgent({
      model: scriptedModel(['hello', calls(call('F1')), calls(call('held')), 'end']),
      tools: [F1, held.tool],
    });
    const { sessionId } = await agent.run('hi');
    const running = agent.run('go', { session: sessionId });
    await held.whenBegun(1);
    const session = await agent.open(sessionId);
    const stream = session.stream();
    const events: AgentEvent[] = [];
    for await (const event of stream) {
      if (events.length === 1) held.end(0);
      events.push(event);
    }
    const [first] = events;
    if (first?.type !== 'joined') throw new Error('it did not join');
    expect(first).toMatchObject({ turn: 2, messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }] });
    const again = events.slice(1, 1 + first.toldAgain).map(({ type }) => type);
    expect(again.at(-1)).toBe('tool-call');
    const live = events.slice(1 + first.toldAgain).map(({ type }) => type);
    expect(live).toContain('tool-result');
    expect(live.at(-1)).toBe('finish');
    expect((await stream.result).text).toBe('end');
    await running;
  });

  test('sees the last progress of an open call, and not that of a closed one', async () => {
    const held = heldTool('held');
    const loud = toolOf('loud', (_, { progress }) => {
      progress('half');
      return 'all';
    });
    const agent = createAgent({
      model: scriptedModel([calls(call('loud'), call('held')), 'end']),
      tools: [loud, held.tool],
    });
    const session = await agent.open();
    let late: Promise<AgentEvent[]> | undefined;
    const live = readOut(session.events(), async (event) => {
      if (event.type !== 'tool-result' || event.tool !== 'loud') return;
      await held.whenBegun(1);
      held.begun[0]?.progress('one');
      held.begun[0]?.progress('two');
      late = readOut(session.events({ from: 'turn' }), () => held.end(0));
    });
    await session.send('go');
    const values = (events: AgentEvent[]) =>
      events.flatMap((event) => (event.type === 'tool-progress' ? [event.value] : []));
    expect(values(await live)).toEqual(['half', 'one', 'two']);
    expect(values((await late) ?? [])).toEqual(['two']);
  });

  test('of a turn that is over is told the whole of it, and of one before the first waits for that', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two']), tools: [outsideTool('ask')] });
    const session = await agent.open();
    const early = session.stream();
    await session.send('go');
    expect((await early.result).text).toBe('one');
    await agent.run('more', { session });
    const late = session.stream();
    expect((await late.result).text).toBe('two');
    const events: AgentEvent[] = [];
    for await (const event of late) events.push(event);
    expect(told(events)).toEqual(['step-start 1', 'text: two', 'step-finish 1', 'finish 2 answered']);
  });

  test('leaves and stops nothing', async () => {
    const held = heldTool('held');
    const agent = createAgent({ model: scriptedModel([calls(call('held')), 'end']), tools: [held.tool] });
    const session = await agent.open();
    const running = agent.run('go', { session });
    await held.whenBegun(1);
    for await (const event of session.stream()) if (event.type === 'tool-call') break;
    held.end(0);
    expect((await running).text).toBe('end');
  });

  test('of a turn that fails hears why', async () => {
    const agent = createAgent({ model: scriptedModel([new Error('no such model')]), retry: { attempts: 1 } });
    const session = await agent.open();
    await rejection(agent.run('go', { session }));
    const stream = session.stream();
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', error: { message: 'no such model' } },
      { type: 'finish' },
    ]);
    expect((await rejection(stream.result)).message).toBe('no such model');
  });

  test('of a session that closes meanwhile comes to an end', async () => {
    const held = heldTool('held');
    const agent = createAgent({ model: scriptedModel([calls(call('held'))]), tools: [held.tool] });
    const session = await agent.open();
    await session.send('go');
    await held.whenBegun(1);
    const stream = session.stream();
    const reading = readOut(stream, () => undefined);
    await session[Symbol.asyncDispose]();
    await reading;
    expect((await rejection(stream.result)).code).toBe('session-closed');
  });
});

test('B130: the end of a turn is told when it is stored, to whoever reads', async () => {
  const inner = memoryStore();
  const opened = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const store: SessionStore = {
    ...inner,
    commit: async (commit) => {
      begun.resolve();
      await opened.promise;
      await inner.commit(commit);
    },
  };
  const agent = createAgent({ model: scriptedModel(['done']), store });
  const session = await agent.open('s');
  const ends: string[] = [];
  const watch = async (name: string, events: AsyncIterable<AgentEvent>): Promise<void> => {
    for await (const event of events) {
      if (event.type !== 'finish') continue;
      ends.push(name);
      expect((await inner.read('s'))?.summary).toMatchObject({ status: 'settled', messages: 2 });
      break;
    }
  };
  const watching = [
    watch('live', session.events()),
    watch('run', agent.stream('go', { session, onLeave: 'detach' })),
    begun.promise.then(() => watch('late', session.stream())),
  ];
  await begun.promise;
  for (let left = 5; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toEqual([]);
  opened.resolve();
  await Promise.all(watching);
  expect(ends.toSorted()).toEqual(['late', 'live', 'run']);
});

test('a session that is opened only to be looked at tells its turn as far as it had come', async () => {
  const agent = createAgent({ model: tripScript(), tools: [F1, gate], store: memoryStore() });
  const { sessionId } = await agent.run('go');
  const read = async (stream: AsyncIterable<AgentEvent>): Promise<string[]> => {
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)?.type).toBe('finish');
    return told(events);
  };
  const whole = await read((await agent.open(sessionId)).stream());
  const view = await agent.open(sessionId, { readOnly: true });
  expect(await read(view.stream())).toEqual(whole);
  expect(await read(view.events({ from: 'turn' }))).toEqual(whole);
  expect((await view.stream().result).outcome.type).toBe('pending');
  for await (const event of view.events()) throw new Error(`it told ${event.type}`);
});
