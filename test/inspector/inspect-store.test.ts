import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type InspectFlags, inspect } from '../../src/cli/inspect.ts';
import { createAgent } from '../../src/index.ts';
import { unpackEvents } from '../../src/inspector/packed-events.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { type Answer, ask, command, placeOf, preparePage } from './http.ts';

let folder = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-inspect-'));
  await preparePage();
});
afterAll(async () => {
  for (const child of children) child.kill();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const sink = () => {
  let text = '';
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString();
      done();
    },
  });
  return Object.assign(output, { text: () => text });
};

/** `agentchart inspect PLACE --port 0`, until it is interrupted. */
const inspecting = async (place: string) => {
  const output = sink();
  const interrupted = new AbortController();
  const ended = inspect(place, { port: '0' }, { output, signal: interrupted.signal });
  await vi.waitFor(() => expect(output.text()).toContain('http://127.0.0.1:'), { timeout: 120_000 });
  const url = output.text().trim();
  const get = (path: string): Promise<Answer> =>
    ask(url, path, { headers: { authorization: `Bearer ${placeOf(url).token}` } });
  return {
    url,
    sessions: async () => (JSON.parse((await get('/stored')).body) as { sessions: { id: string }[] }).sessions,
    history: async (id: string) => {
      const { run, packed } = JSON.parse((await get(`/stored-session?id=${encodeURIComponent(id)}`)).body);
      return { run: String(run), events: unpackEvents(packed) };
    },
    end: async () => {
      interrupted.abort();
      return ended;
    },
  };
};

const enters = (events: readonly ProtocolEvent[], state: string): number =>
  events.findIndex((event) => event.type === 'step' && event.states.includes(`agent.${state}`));

test('a file of sessions is looked at while another process writes it; decisions reach that process, a fork is a session of its own', async () => {
  const path = join(folder, 'sessions.db');
  const writer = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'store-writer.ts'), path, 'order 7'],
    { env: { ...process.env, NODE_OPTIONS: '' } },
  );
  children.push(writer);
  let printed = '';
  writer.stdout.on('data', (data: Buffer) => (printed += data.toString()));
  const exit = once(writer, 'exit');
  expect(String(await once(writer.stderr, 'data'))).toBe('waiting\n');

  const { url, sessions, history, end } = await inspecting(path);
  expect(await sessions()).toMatchObject([{ id: 'order 7', agent: 'clerk', status: 'waiting', pending: 1 }]);
  const before = await history('order 7');
  expect(enters(before.events, 'thinking.asking')).toBeGreaterThan(0);
  expect(enters(before.events, 'awaiting-approval')).toBeGreaterThan(0);
  expect(enters(before.events, 'done.answered')).toBe(-1);
  const inputHash = /"inputHash":"([0-9a-f]{64})"/.exec(JSON.stringify(before.events))?.[1];

  const decision = { session: 'order 7', callId: 'call_2_0' };
  const stale = await command(url, { type: 'approve', ...decision, inputHash: '0'.repeat(64) });
  expect([stale.status, stale.body]).toEqual([409, expect.stringContaining('has other arguments')]);
  const nobody = await command(url, { type: 'approve', ...decision, callId: 'call_9_9', inputHash });
  expect(nobody.status).toBe(404);
  const approved = await command(url, { type: 'approve', ...decision, inputHash, input: { sum: 2 } });
  expect([approved.status, approved.body]).toEqual([200, expect.stringContaining('Left in the store')]);
  await exit;
  expect(JSON.parse(printed)).toEqual({ text: 'It is done.', paid: [{ sum: 2 }] });

  // The past grew at its end.
  const after = await history('order 7');
  expect(after.run).toBe(before.run);
  expect(after.events.slice(0, before.events.length)).toEqual(before.events);
  expect(enters(after.events, 'done.answered')).toBeGreaterThan(before.events.length);

  const fork = { type: 'fork', session: 'order 7', run: after.run };
  const { session: copy } = JSON.parse((await command(url, { ...fork, seq: before.events.length })).body);
  expect(new Set((await sessions()).map(({ id }) => id))).toEqual(new Set([copy, 'order 7']));
  expect((await command(url, { ...fork, seq: 100_000 })).status).toBe(409);
  expect((await command(url, { ...fork, run: 'another', seq: 3 })).status).toBe(409);
  await end();

  const paid: unknown[] = [];
  const store = sqliteStore(path);
  const tools = [
    toolOf('look', () => 'seen'),
    toolOf('pay', (input) => (paid.push(input), 'paid'), { needsApproval: true }),
  ];
  const agent = createAgent({ name: 'clerk', model: scriptedModel(['Paid anew.']), tools, store });
  const forked = await agent.open(String(copy));
  expect(forked.pending).toMatchObject([{ tool: 'pay', input: { sum: 3 } }]);
  await forked.approve('call_2_0');
  expect((await forked.settled()).text).toBe('Paid anew.');
  expect((await agent.open('order 7', { readOnly: true })).messages.at(-1)?.content).toEqual([
    { type: 'text', text: 'It is done.' },
  ]);
  expect(paid).toEqual([{ sum: 3 }]);
  await agent.close();
  await store.close();
});

test('in a pipe the sessions of a file are printed, control characters written out, and it ends', async () => {
  const path = join(folder, 'printed.db');
  const store = sqliteStore(path);
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel([calls(call('look')), 'Seen.', calls(call('pay'))]),
    tools: [toolOf('look', () => 'x'), toolOf('pay', () => 'paid', { needsApproval: true })],
    store,
  });
  await agent.run('Look.', { session: 'evil \u001b[2J' });
  await agent.run('Pay.', { session: 'waits' });
  await agent.close();
  await store.close();
  const output = sink();
  await inspect(undefined, { store: path }, { output, signal: new AbortController().signal });
  expect(output.text()).toContain('evil \\u001b[2J (clerk, settled)');
  expect(output.text()).toContain('thinking.asking → done.answered');
  expect(output.text()).toMatch(/→ awaiting-decision$/m);
  expect(output.text()).not.toContain('\u001b');
});

test('what is no place is told in words', async () => {
  const run = (...given: [string | undefined, InspectFlags?]) =>
    inspect(given[0], given[1] ?? {}, { output: sink(), signal: AbortSignal.abort() });
  const text = join(folder, 'notes.txt');
  await writeFile(text, 'hello');
  await expect(run(text)).rejects.toMatchObject({ code: 'invalid-document' });
  await expect(run(join(folder, 'nowhere.db'))).rejects.toThrow('There is no file');
  await expect(run('a', { store: 'b' })).rejects.toThrow('Give one place');
  await expect(run(text, { port: 'x' })).rejects.toThrow('--port must be a whole number');
  vi.stubEnv('AGENTCHART_STORE', '');
  await expect(run(undefined)).rejects.toThrow('Say where the sessions are');
  vi.unstubAllEnvs();
});
