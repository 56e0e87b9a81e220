import { expect, test } from 'vitest';
import type { ChatModel } from '../../src/models/chat-model.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { textOf } from '../../src/messages/message.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { readAhead } from '../../src/sessions/event-reader.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { calls, call, toolOf } from '../support/tools.ts';

const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Says the numbers from 0 on, one in a chunk. */
const counting = (count: number) => {
  const state = { asked: 0, isClosed: false };
  const text = Array.from({ length: count }, (_, index) => `${index} `).join('');
  const reply = { message: { role: 'assistant' as const, content: text }, finishReason: 'stop' as const };
  const model: ChatModel = {
    name: 'counting',
    generate: async () => reply,
    stream: async function* () {
      try {
        for (; state.asked < count; state.asked += 1) {
          if (state.asked % 100 === 99) await turns(1);
          yield { type: 'text-delta', text: `${state.asked} ` };
        }
        yield { type: 'finish', reply };
      } finally {
        state.isClosed = true;
      }
    },
  };
  return { model, state, text };
};

const textIn = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

test('a model is read no faster than its reader reads, beyond a bound, and nothing is lost', async () => {
  const { model, state, text } = counting(5_000);
  const stream = createAgent({ model, clock: manualClock() }).stream('count');
  const read: AgentEvent[] = [];
  let hasRested = false;
  for await (const event of stream) {
    read.push(event);
    if (event.type !== 'text-delta' || hasRested) continue;
    await turns(50);
    hasRested = true;
    expect(state.asked).toBeGreaterThan(100);
    expect(state.asked).toBeLessThan(2 * readAhead);
  }
  expect(textIn(read)).toBe(text);
  expect((await stream.result).text).toBe(text);
});

test('the slowest of several readers counts, until it leaves', async () => {
  const { model, state, text } = counting(3_000);
  const agent = createAgent({ model, clock: manualClock() });
  const session = await agent.open();
  const slow = session.events()[Symbol.asyncIterator]();
  const first = slow.next();
  const stream = agent.stream('count', { session });
  const fast: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) fast.push(event);
  })();
  await first;
  await turns(100);
  expect(state.asked).toBeLessThan(2 * readAhead);
  await slow.return?.();
  await reading;
  expect(textIn(fast)).toBe(text);
});

test('R41: a slow reader is no silent model: while it is waited for the stream cannot time out', async () => {
  const clock = manualClock();
  const { model, state, text } = counting(2_000);
  const stream = createAgent({ model, clock, idleTimeout: 50 }).stream('count');
  const events = stream[Symbol.asyncIterator]();
  while ((await events.next()).value.type !== 'text-delta');
  await turns(50);
  expect(state.asked).toBeLessThan(2 * readAhead);
  clock.advance(4_000);
  await turns(5);
  const rest: AgentEvent[] = [];
  for (let next = await events.next(); next.done !== true; next = await events.next()) rest.push(next.value);
  expect(`0 ${textIn(rest)}`).toBe(text);
  expect(rest.filter(({ type }) => type === 'error')).toEqual([]);
});

test('who does not read for 5 s holds nobody up: the turn ends, and what is unread is joined', async () => {
  const clock = manualClock();
  const { model, text } = counting(20_000);
  const stream = createAgent({ model, clock }).stream('count');
  const events = stream[Symbol.asyncIterator]();
  const read = [(await events.next()).value];
  expect(await clock.armed()).toBe(5_000);
  clock.advance(5_000);
  expect((await stream.result).text).toBe(text);
  for (let next = await events.next(); next.done !== true; next = await events.next()) read.push(next.value);
  expect(read.length).toBeLessThan(readAhead + 10);
  expect(textIn(read)).toBe(text);
  expect(read.at(-1)?.type).toBe('finish');
  expect(clock.timers).toBe(0);
});

test('a stream that nobody reads holds nobody up either', async () => {
  const { model, text } = counting(20_000);
  const stream = createAgent({ model, clock: manualClock() }).stream('count');
  expect((await stream.result).text).toBe(text);
  const read: AgentEvent[] = [];
  for await (const event of stream) read.push(event);
  expect(read.length).toBeLessThan(readAhead + 10);
  expect(textIn(read)).toBe(text);
});

test('R35: a stop works at once while a slow reader is waited for', async () => {
  const clock = manualClock();
  const { model, state } = counting(5_000);
  const agent = createAgent({ model, clock });
  const session = await agent.open();
  const stream = agent.stream('count', { session });
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  await clock.armed();
  await session.stop('enough');
  expect((await stream.result).outcome).toEqual({ type: 'stopped', reason: 'enough' });
  await turns(2);
  expect(state.isClosed).toBe(true);
  expect(clock.timers).toBe(0);
});

test('arguments of parallel calls are joined each for itself', async () => {
  const pieces = 2_000;
  const model: ChatModel = {
    name: 'two calls',
    generate: async () => ({ message: { role: 'assistant', content: 'no' }, finishReason: 'stop' }),
    stream: async function* () {
      for (let piece = 0; piece < pieces; piece += 1) {
        for (const index of [0, 1])
          yield { type: 'tool-input-delta', index, toolName: `tool ${index}`, text: `${piece},` };
      }
      yield { type: 'finish', reply: { message: { role: 'assistant', content: 'done' }, finishReason: 'stop' } };
    },
  };
  const stream = createAgent({ model }).stream('go');
  await stream.result;
  const inputs = ['', ''];
  let count = 0;
  for await (const event of stream) {
    if (event.type !== 'tool-input-delta') continue;
    count += 1;
    inputs[event.index] += event.text;
  }
  const whole = Array.from({ length: pieces }, (_, piece) => `${piece},`).join('');
  expect(inputs).toEqual([whole, whole]);
  expect(count).toBeLessThanOrEqual(readAhead);
});

test('what agents in two calls say at once is joined each for itself', async () => {
  const pieces = 1_000;
  const chatter: ChatModel = {
    name: 'chatter',
    generate: async () => ({ message: { role: 'assistant', content: 'no' }, finishReason: 'stop' }),
    stream: async function* ({ messages }) {
      const who = messages.map(textOf).join('');
      for (let piece = 0; piece < pieces; piece += 1) {
        yield { type: 'text-delta', text: `${who}${piece},` };
        await Promise.resolve();
      }
      yield { type: 'finish', reply: { message: { role: 'assistant', content: 'done' }, finishReason: 'stop' } };
    },
  };
  const inner = createAgent({ name: 'inner', model: chatter }).asTool({ name: 'inner' });
  const model = scriptedModel([calls(call('inner', { prompt: 'a' }), call('inner', { prompt: 'b' })), 'done']);
  const stream = createAgent({ model, tools: [inner] }).stream('go');
  await stream.result;
  const said: Record<string, string> = {};
  let count = 0;
  for await (const event of stream) {
    if (event.type !== 'text-delta') continue;
    count += 1;
    const speaker = event.insideCall ?? 'root';
    said[speaker] = `${said[speaker] ?? ''}${event.text}`;
  }
  const whole = (who: string) => Array.from({ length: pieces }, (_, piece) => `${who}${piece},`).join('');
  expect(said).toEqual({ call_1_0: whole('a'), call_1_1: whole('b'), root: 'done' });
  expect(count).toBeLessThanOrEqual(readAhead + 4);
});

test('of the progress of a call that nobody reads the newest value stays, and nothing else is left out', async () => {
  const chatty = toolOf('chatty', (_, { progress }) => {
    for (let step = 0; step < 10_000; step += 1) progress(step);
    return 'over';
  });
  const agent = createAgent({ model: scriptedModel([calls(call('chatty')), 'done']), tools: [chatty] });
  const stream = agent.stream('go');
  await stream.result;
  const read: AgentEvent[] = [];
  for await (const event of stream) read.push(event);
  const values = read.flatMap((event) => (event.type === 'tool-progress' ? [event.value] : []));
  expect(values.length).toBeLessThanOrEqual(readAhead);
  expect(values.at(-1)).toBe(9_999);
  expect(read.map(({ type }) => type)).toEqual(expect.arrayContaining(['tool-call', 'tool-result', 'finish']));
});

test('leaving the loop stops the turn, or lets it go on where the caller says so', async () => {
  const left = async (onLeave?: 'stop' | 'detach') => {
    const { model } = counting(2_000);
    const stream = createAgent({ model }).stream('count', onLeave === undefined ? {} : { onLeave });
    for await (const event of stream) if (event.type === 'text-delta') break;
    return (await stream.result).outcome.type;
  };
  expect(await left()).toBe('stopped');
  expect(await left('stop')).toBe('stopped');
  expect(await left('detach')).toBe('answered');
});

test('R1: another word for it is refused', async () => {
  const agent = createAgent({ model: scriptedModel(['hi']) });
  const stream = agent.stream('go', { onLeave: 'pause' as 'stop' });
  await expect(stream.result).rejects.toThrow('stream: option "onLeave" must be "stop" or "detach", got "pause"');
  const session = await agent.open();
  expect(() => session.events({ from: 'start' as 'now' })).toThrow('events: option "from" must be "now" or "turn"');
});

test('a stream ends with its own turn, also where another one follows at once', async () => {
  const agent = createAgent({ model: scriptedModel(['one', 'two']) });
  const session = await agent.open();
  const streams = [agent.stream('first', { session }), agent.stream('second', { session })];
  const turnsOf = async (stream: AsyncIterable<AgentEvent>): Promise<number[]> => {
    const numbers: number[] = [];
    let last: AgentEvent | undefined;
    for await (const event of stream) {
      if (event.type === 'finish') numbers.push(event.turn);
      last = event;
    }
    expect(last?.type).toBe('finish');
    return numbers;
  };
  expect(await Promise.all(streams.map(turnsOf))).toEqual([[1], [1, 2]]);
});

test('what a reader changes in an event is changed neither in the session nor for other readers', async () => {
  const model = scriptedModel([calls(call('add', { a: 1 })), 'done']);
  const agent = createAgent({ model, tools: [toolOf('add', ({ a }) => ({ sum: Number(a) + 1 }))] });
  const session = await agent.open();
  const other = session.events();
  const spoil = (value: object): void => {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'object' && item !== null) spoil(item);
      else Object.assign(value, { [key]: 'spoilt' });
    }
  };
  const stream = agent.stream('go', { session });
  for await (const event of stream) if ('callId' in event || event.type === 'finish') spoil(event);
  const seen: AgentEvent[] = [];
  for await (const event of other) {
    seen.push(event);
    if (event.type === 'finish') break;
  }
  expect((await stream.result).text).toBe('done');
  expect(JSON.stringify([seen, session.messages])).not.toContain('spoilt');
});
