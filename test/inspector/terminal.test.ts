import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { followInTerminal, inspectRecording, openRecording, startInspector } from '../../src/inspector/index.ts';
import { createEventLog } from '../../src/inspector/event-log.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { logOf, readRecording } from '../../src/inspector/recording.ts';
import { printLog } from '../../src/inspector/server/follow-in-terminal.ts';
import { linesOf } from '../../src/inspector/server/lines-of.ts';
import { emptyView, reduceView } from '../../src/inspector/view-state.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { preparePage, readStream } from './http.ts';
import { tripAgent, viewOf } from './support.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-inspector-'));
  await preparePage();
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** A stream that keeps what was written to it. */
const sink = (isTTY = false): PassThrough & { isTTY: boolean; text(): string } => {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const parts: string[] = [];
  stream.on('data', (part: Buffer) => parts.push(part.toString()));
  return Object.assign(stream, { text: () => parts.join('') });
};

const withoutTimes = (text: string): string => text.replaceAll(/^ *\d+\.\d\ds/gm, '').replaceAll(/ \d+ ms$/gm, '');

test('a pipe gets a line for each transition, without colours, and nobody is asked', async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  const output = sink();
  const stop = followInTerminal(recorder, { agents: [inspected], output, input: sink() });
  recorder.describe(inspected);
  const session = await agent.open('trip', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  await Promise.resolve();
  stop();
  expect(withoutTimes(output.text())).toContain(
    [
      '  trip thinking.asking → acting on done: model [opensRound]',
      '  ├ GetWeather {"location":"Suzhou"}',
      '  ├ GetWeather {"location":"Hangzhou"}',
    ].join('\n'),
  );
  expect(withoutTimes(output.text())).toContain('  └ ✔ GetWeather ok\n');
  expect(output.text()).toContain('? BookTrain {"to":"Hangzhou","seats":1} needs approval\n');
  expect(output.text()).not.toContain('\u001b');
  expect(session.pending).toHaveLength(1);
});

test('at a keyboard the question is asked and the answer runs the call', async () => {
  const seats: number[] = [];
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent({ onBook: (input) => seats.push(input.seats) });
  const [output, input] = [sink(), sink(true)];
  const stop = followInTerminal(recorder, { agents: [inspected], output, input });
  const session = await agent.open('trip', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  await vi.waitFor(() => expect(output.text()).toContain('[a]pprove'), 30_000);
  input.write('a\n');
  await vi.waitFor(() => expect(session.status).toBe('settled'), 30_000);
  stop();
  expect(seats).toEqual([1]);
});

test('a keyboard that goes away decides nothing', async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  const [output, input] = [sink(), sink(true)];
  const stop = followInTerminal(recorder, { agents: [inspected], output, input });
  const session = await agent.open('trip', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  await vi.waitFor(() => expect(output.text()).toContain('[a]pprove'), 30_000);
  input.end();
  await new Promise((resolve) => setImmediate(resolve));
  stop();
  expect(session.pending).toHaveLength(1);
});

test('the tree shows each call below its agent, drawn anew in place', async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  const output = sink(true);
  recorder.describe(inspected);
  const stop = followInTerminal(recorder, { output, input: sink(), view: 'tree' });
  const session = await agent.open('trip', { inspect: recorder.inspect });
  await session.send('go');
  await session.settled();
  await Promise.resolve();
  stop();
  // eslint-disable-next-line no-control-regex
  const plain = output.text().replaceAll(/\u001b\[\??\d*[A-Za-z]/g, '');
  expect(plain).toContain('trip awaiting-approval\n  ? BookTrain awaiting-decision');
});

test('the tree stays on the screen, however narrow and low it is', async () => {
  const recorder = createRecorder();
  const output = Object.assign(sink(true), { columns: 10, rows: 4 });
  const stop = followInTerminal(recorder, { output, input: sink(), view: 'tree' });
  for (const session of ['one', 'two', 'three'])
    await tripAgent().agent.run('go', { session, inspect: recorder.inspect });
  await Promise.resolve();
  stop();
  const drawings = output.text().split('\u001b[?7l').slice(1);
  expect(Math.max(...drawings.map((drawing) => drawing.split('\u001b[?7h')[0]?.split('\n').length ?? 0))).toBe(4);
  expect(drawings.length).toBeGreaterThan(2);
  expect(drawings.every((drawing) => drawing.includes('\u001b[?7h'))).toBe(true);
});

test('what a terminal would obey is shown, in names, arguments and errors', async () => {
  const recorder = createRecorder();
  const evil = '\u001b[2J\u001b]0;owned\u0007\u202e';
  const tools = [
    toolOf('show', () => {
      throw new Error(`failed ${evil}`);
    }),
  ];
  const agent = createAgent({
    name: `agent${evil}`,
    model: scriptedModel([calls(call('show', { text: evil })), 'ok']),
    tools,
  });
  recorder.describe({ ...agent, tools });
  await agent.run('go', { inspect: recorder.inspect });
  const output = sink();
  printLog(recorder.log, output);
  expect(output.text()).toContain('\\u001b[2J\\u001b]0;owned\\u0007\\u202e');
  expect(output.text()).toContain('failed \\u001b[2J');
  // eslint-disable-next-line no-control-regex
  expect(output.text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test('secrets stand in no terminal, in arguments, errors and questions', async () => {
  const recorder = createRecorder();
  const tools = [
    toolOf('login', () => {
      throw new Error('no Bearer abcdefghijklmnopqrstuvwxyz');
    }),
    toolOf('pay', () => 'ok', { needsApproval: true }),
  ];
  const input = { apiKey: 'hunter2', headers: { authorization: 'hunter2' } };
  const model = scriptedModel([calls(call('login', input)), calls(call('pay', input)), 'ok']);
  const agent = createAgent({ model, tools, detailedErrors: true });
  const output = sink();
  const stop = followInTerminal(recorder, { agents: [agent], output, input: sink() });
  await agent.run('go', { inspect: recorder.inspect });
  stop();
  expect(output.text()).toContain('? pay {"apiKey":{"$hidden":"••••••"}');
  expect(output.text()).toContain('login failed: no ••••••');
  expect(output.text()).not.toMatch(/hunter2|abcdefghij/);
});

/** A trip that was recorded to a file, up to its end. */
const recordTrip = async (path: string): Promise<void> => {
  const { agent, inspected } = tripAgent();
  const inspector = await startInspector({ agents: [inspected], record: path });
  const session = await agent.open('trip', { inspect: inspector.inspect });
  await session.send('go');
  await session.settled();
  await session.approve(session.pending[0]?.callId ?? '');
  await session.settled();
  await inspector.close();
};

test('a recording holds the whole run, and prints and serves it without the process', async () => {
  const path = join(folder, 'run.ndjson');
  await recordTrip(path);
  const { events, unreadable } = await openRecording(path);
  expect(unreadable).toBe(0);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));

  const printed = sink();
  await inspectRecording(path, { output: printed });
  expect(withoutTimes(printed.text())).toContain('trip thinking.asking → done.answered on done: model [isAnswer]');

  const output = sink(true);
  const leaving = new AbortController();
  const served = inspectRecording(path, { output, signal: leaving.signal });
  await vi.waitFor(() => expect(output.text()).toContain('http://127.0.0.1:'), 30_000);
  const streamed = await readStream(output.text().trim(), ({ events: all }) => all.length === events.length);
  expect(streamed.events).toEqual(events);
  leaving.abort();
  await served;
});

test('a process that starts again goes on with its recording, and shows what was before', async () => {
  const path = join(folder, 'twice.ndjson');
  await recordTrip(path);
  const before = (await openRecording(path)).events.length;
  const { agent } = tripAgent();
  const recorder = createRecorder();
  const inspector = await startInspector({ record: path, recorder });
  await agent.run('go', { session: 'second', inspect: inspector.inspect });
  expect(Object.keys(viewOf(recorder.log).sessions)).toEqual(['trip', 'second']);
  await inspector.close();
  const { events } = await openRecording(path);
  expect(events.length).toBeGreaterThan(before + 10);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});

test('a line that a killed process left half is told, and the rest is read', async () => {
  const path = join(folder, 'cut.ndjson');
  await recordTrip(path);
  const whole = (await openRecording(path)).events.length;
  await truncate(path, (await readFile(path)).length - 20);
  const { events, unreadable } = await openRecording(path);
  expect([events.length, unreadable]).toEqual([whole - 1, 1]);
});

test('a line of more levels than are walked is told, and the rest is read', async () => {
  const path = join(folder, 'deep.ndjson');
  await recordTrip(path);
  const whole = (await openRecording(path)).events.length;
  await appendFile(path, `{"type":"failure","where":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`);
  const { events, unreadable } = await openRecording(path);
  expect([events.length, unreadable]).toEqual([whole, 1]);
});

test('a recording that begins late has what was before, for who reads it and for who goes on with it', async () => {
  const path = join(folder, 'late.ndjson');
  const { agent, inspected } = tripAgent();
  const early = createRecorder(createEventLog({ maxEvents: 20 }));
  await agent.run('go', { session: 'before', inspect: early.inspect });
  const first = await startInspector({ agents: [inspected], recorder: early, record: path });
  await agent.run('go', { session: 'after', inspect: first.inspect });
  await first.close();
  const { base, events } = await openRecording(path);
  expect(Object.keys(base.sessions)).toEqual(['before']);
  const view = viewOf(logOf(await openRecording(path)));
  expect(view).toMatchObject({ seq: events.length, sessions: { before: {}, after: {} } });

  const recorder = createRecorder();
  const second = await startInspector({ record: path, recorder });
  expect(Object.keys(viewOf(recorder.log).sessions)).toEqual(['before', 'after']);
  await second.close();
});

/** The same with other values for each of its parts, also deep inside. */
const damaged = (value: unknown, depth = 4): unknown[] => {
  const others = [null, 5, 'x', [null], { a: 1 }, undefined];
  if (typeof value !== 'object' || value === null || depth === 0) return others;
  // Of many parts the first ones stand for all.
  const inside = Object.entries(value)
    .slice(0, Array.isArray(value) ? 1 : 20)
    .flatMap(([name, item]) =>
      damaged(item, depth - 1).map((other) =>
        Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other },
      ),
    );
  return [...others, ...inside];
};

test('a line that is JSON and no event is told, and nothing stumbles over what is taken for one', async () => {
  const path = join(folder, 'damaged.ndjson');
  await recordTrip(path);
  const { hello, events } = await openRecording(path);
  const first = new Map<string, number>();
  for (const [index, { type }] of events.entries()) if (!first.has(type)) first.set(type, index);
  let told = 0;
  const show = async (head: unknown, rest: readonly unknown[]): Promise<void> => {
    const lines = [hello, head, ...rest].map((line) => JSON.stringify(line) ?? '');
    const recording = await readRecording(lines);
    told += recording.unreadable;
    printLog(logOf(recording), sink());
  };
  const base = (index: number) => ({ type: 'base', view: events.slice(0, index).reduce(reduceView, emptyView) });
  for (const index of first.values())
    for (const other of damaged(events[index])) await show(base(index), [other, ...events.slice(index + 1, index + 3)]);
  for (const other of damaged(base(events.length), 5)) await show(other, events.slice(-2));
  expect(told).toBeGreaterThan(200);
});

test('a line that is longer than a text can be is left out, and the rest is read', async () => {
  const lines: string[] = [];
  for await (const line of linesOf(['ab', 'c\r\nde', 'fghij', 'klm\n', '\nno', 'p'], 6)) lines.push(line);
  expect(lines).toEqual(['abc', '(too long)', '', 'nop']);
});

test.each<[string, string, object]>([
  ['nothing', '', { code: 'invalid-document' }],
  ['another file', 'hello world\n', { code: 'invalid-document' }],
  ['another JSON', '{"type":"step"}\n', { code: 'invalid-document' }],
  ['a newer recording', '{"type":"hello","version":99,"run":"x","at":0}\n', { code: 'newer-document' }],
])('%s is no recording, and is told so', async (name, text, error) => {
  const path = join(folder, `${name}.ndjson`);
  await writeFile(path, text);
  await expect(openRecording(path)).rejects.toMatchObject(error);
});

test('a file that is not there, or is none, is told', async () => {
  for (const path of ['nowhere.ndjson', folder])
    await expect(inspectRecording(path, { output: sink() })).rejects.toMatchObject({ code: 'invalid-option' });
});

test('a recording that cannot be written is told, and the agent goes on', async () => {
  const { agent } = tripAgent();
  const recorder = createRecorder();
  const inspector = await startInspector({ record: join(folder, 'no', 'such', 'folder.ndjson'), recorder });
  const { outcome } = await agent.run('go', { inspect: inspector.inspect });
  expect(outcome.type).toBe('pending');
  await vi.waitFor(() => expect(viewOf(recorder.log).failures.last?.where).toContain('recording to'), 30_000);
  await inspector.close();
});
