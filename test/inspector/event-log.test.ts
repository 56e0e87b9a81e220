import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { encodeEvent, encodeView } from '../../src/inspector/encode.ts';
import { createEventLog } from '../../src/inspector/event-log.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { createFold } from '../../src/inspector/view-fold.ts';
import { type ViewState, emptyView, reduceView } from '../../src/inspector/view-state.ts';
import { eventsOf, tripAgent } from './support.ts';

const recorded = async (): Promise<ProtocolEvent[]> => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  recorder.describe(inspected);
  const session = await agent.open('trip', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  await session.approve(session.pending[0]?.callId ?? '');
  await session.settled();
  await agent.close();
  return eventsOf(recorder.log);
};

const decoded = (lines: readonly string[]): ProtocolEvent[] => lines.map((line) => JSON.parse(line));

test('who comes late has the same view as who was there from the beginning, however much was folded away', async () => {
  const all = await recorded();
  const early = decoded(all.map(encodeEvent)).reduce(reduceView, emptyView);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: all.length + 5 }), (maxEvents) => {
      const log = createEventLog({ maxEvents });
      log.restore(all);
      expect(log.folded).toBe(Math.max(0, all.length - maxEvents));
      const base = JSON.parse(encodeView(log.base())) as ViewState;
      expect(decoded(log.lines(log.folded, Infinity)).reduce(reduceView, base)).toEqual(early);
    }),
    { numRuns: 40 },
  );
});

test('what is kept is bounded by its size as well', () => {
  const log = createEventLog({ maxBytes: 1_000_000 });
  for (let index = 0; index < 50; index += 1) {
    log.append({ type: 'said', session: 's', actor: 'a', what: 'error', data: { text: 'x'.repeat(100_000) } });
  }
  expect(log.last - log.folded).toBeLessThanOrEqual(5);
  expect(log.last).toBe(50);
});

test('numbers are dense, and a part of the log is read by number', () => {
  const log = createEventLog({ maxEvents: 10 });
  for (let index = 0; index < 25; index += 1) log.append({ type: 'failure', where: 'here', message: `${index}` });
  expect(log.after(20, 3).map(({ seq }) => seq)).toEqual([21, 22, 23]);
  expect(log.after(0, 2).map(({ seq }) => seq)).toEqual([16, 17]);
  expect(log.after(25, 5)).toEqual([]);
});

test('listeners hear of what was appended together, once, and afterwards', async () => {
  const log = createEventLog();
  const heard: number[] = [];
  log.subscribe(() => heard.push(log.last));
  log.append({ type: 'failure', where: 'a', message: '1' });
  log.append({ type: 'failure', where: 'a', message: '2' });
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual([2]);
});

test('the view never changes what it was made of', async () => {
  const all = decoded((await recorded()).map(encodeEvent));
  let view = emptyView;
  const before: string[] = [];
  const views: ViewState[] = [];
  for (const event of all) {
    view = reduceView(view, event);
    views.push(view);
    before.push(JSON.stringify(view));
  }
  expect(views.map((each) => JSON.stringify(each))).toEqual(before);
});

test('many events at once come to the same, and what was looked at stays as it was', async () => {
  const all = decoded((await recorded()).map(encodeEvent));
  const fold = createFold(emptyView);
  const looks: [ViewState, string][] = [];
  for (const [index, event] of all.entries()) {
    fold.add(event);
    if (index % 7 === 0) looks.push([fold.view, JSON.stringify(fold.view)]);
  }
  expect(looks.map(([view]) => JSON.stringify(view))).toEqual(looks.map(([, text]) => text));
  expect(JSON.stringify(fold.view)).toBe(JSON.stringify(all.reduce(reduceView, emptyView)));
});

test('thousands of sessions make an event no dearer', () => {
  const copies = vi.spyOn(Object, 'assign');
  const log = createEventLog({ maxEvents: 10 });
  for (let index = 0; index < 2_000; index += 1) log.append({ type: 'session', session: `s${index}`, root: 'r' });
  expect(copies.mock.calls.length).toBeLessThan(10);
  copies.mockRestore();
  expect(Object.keys(log.base().sessions)).toHaveLength(1_990);
});

test('ids of sessions are data, whatever they are called', () => {
  const log = createEventLog({ maxEvents: 4 });
  for (const session of ['__proto__', 'constructor', 'a b']) {
    log.append({ type: 'session', session, root: `root of ${session}` });
    log.append({ type: 'said', session, actor: 'a', what: 'error', data: session });
  }
  const base = JSON.parse(encodeView(log.base())) as ViewState;
  const view = decoded(log.lines(log.folded, Infinity)).reduce(reduceView, base);
  expect(Object.entries(view.sessions).map(([id, { root, said }]) => [id, root, said.length])).toEqual([
    ['__proto__', 'root of __proto__', 1],
    ['constructor', 'root of constructor', 1],
    ['a b', 'root of a b', 1],
  ]);
});

test('who comes late gets plain JSON without secrets, whatever machines came to', () => {
  const log = createEventLog({ maxEvents: 1 });
  const secret = 'sk-proj-1234567890abcdefghij';
  log.append({ type: 'session', session: 's', root: 'a' });
  log.append({
    type: 'actor',
    session: 's',
    actor: 'a',
    parent: null,
    id: 'a',
    src: 'm',
    chart: null,
    states: ['m.x'],
  });
  const output = { size: 1n, password: secret };
  log.append({ type: 'snapshot', session: 's', actor: 'a', status: 'done', output });
  log.append({ type: 'snapshot', session: 's', actor: 'a', status: 'error', error: { name: 'E', message: secret } });
  log.append({ type: 'delta', session: 's', kind: 'text', text: secret });
  log.append({ type: 'failure', where: 'a', message: secret });
  log.append({ type: 'failure', where: 'a', message: '' });
  log.append({ type: 'agent', agent: { name: 'odd', chart: 'c', tools: [], limits: { maxTokens: 1n as never } } });
  log.append({ type: 'failure', where: 'a', message: secret });
  log.append({ type: 'failure', where: 'a', message: secret });
  const text = [encodeView(log.base()), ...log.lines(log.folded, Infinity)].join('\n');
  expect(text).not.toContain(secret);
  expect(text).toContain('"size":{"$bigint":"1"}');
});
