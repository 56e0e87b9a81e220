import { spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { main } from '../../src/cli/main.ts';
import { stepText } from '../../src/cli/step-text.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const root = join(import.meta.dirname, '..', '..');
const ran: unknown[] = [];
const pay = toolOf('pay', (input) => (ran.push(input), 'paid'), { needsApproval: true });

interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** In a process of its own. */
const inProcess = (
  args: readonly string[],
  stdin = '',
  output: 'pipe' | number = 'pipe',
  nodeOptions = '',
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=agentchart-source',
        '--disable-warning=ExperimentalWarning',
        join(root, 'src/cli/index.ts'),
        ...args,
      ],
      {
        env: { ...process.env, NODE_OPTIONS: nodeOptions, AGENTCHART_STORE: '' },
        stdio: ['pipe', output, 'pipe'],
      },
    );
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (data) => (stdout += String(data)));
    child.stderr?.on('data', (data) => (stderr += String(data)));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
    child.stdin?.end(stdin);
  });

/** In this process: what it would write, and its exit status. */
const agentchart = async (args: readonly string[]): Promise<Finished> => {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  try {
    const status = await main([...args]);
    return { status, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};
const json = async (args: readonly string[]): Promise<unknown> => {
  const { status, stdout, stderr } = await agentchart([...args, '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
};

let folder = '';
let path = '';
let n = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** A store with one session that waits for a decision on `pay`. */
const waiting = async (id = 'order 7', ...more: Parameters<typeof calls>): Promise<void> => {
  path = join(folder, `sessions-${(n += 1)}.db`);
  const store = sqliteStore(path);
  const agent = createAgent({
    name: 'clerk',
    model: scriptedModel([calls(call('pay', { to: 'Ann', amount: 12 }), ...more)]),
    tools: [pay],
    store,
  });
  await agent.run('Pay Ann', { session: id });
  await agent.close();
  await store.close();
};
/** What the next process that has the agent makes of the session. */
const goOn = async (id = 'order 7') => {
  const store = sqliteStore(path);
  const agent = createAgent({ name: 'clerk', model: scriptedModel(['Done.']), tools: [pay], store });
  const session = await agent.open(id);
  const result = await session.settled();
  await agent.close();
  await store.close();
  return result;
};

describe('the command line', () => {
  test('lists sessions, all or those of a status, for people and for machines', async () => {
    await waiting();
    const listed = await agentchart(['sessions', '--store', path]);
    expect(listed.stdout).toMatch(/SESSION +AGENT +STATUS.*\norder 7 +clerk +waiting +1 +1 /);
    expect(await json(['sessions', '--store', path])).toMatchObject([
      { sessionId: 'order 7', status: 'waiting', pending: 1 },
    ]);
    expect(await json(['sessions', '--store', path, '--status', 'busy'])).toEqual([]);
    vi.stubEnv('AGENTCHART_STORE', path);
    expect((await agentchart(['sessions'])).stdout).toBe(listed.stdout);
    vi.unstubAllEnvs();
  });

  test('shows a session: its state, what was said, what waits; also as it was', async () => {
    await waiting();
    const { stdout } = await agentchart(['show', 'order 7', '--store', path]);
    expect(stdout).toContain('state     awaiting-approval');
    expect(stdout).toContain('user: Pay Ann');
    expect(stdout).toContain('call_1_0  pay {"to":"Ann","amount":12}  needs a decision');
    expect(await json(['show', 'order 7', '--store', path])).toMatchObject({
      pending: [{ callId: 'call_1_0', tool: 'pay' }],
    });
    expect(await json(['show', 'order 7', '--at', '1', '--store', path])).toMatchObject({
      state: 'thinking.asking',
      pending: [],
    });
    const history = (await json(['history', 'order 7', '--store', path])) as { to: string }[];
    expect(history.map(({ to }) => to)).toEqual(['thinking.asking', 'acting', 'awaiting-approval']);
  });

  test('R27: an approval with other arguments, left in the store, runs when the session is opened next', async () => {
    await waiting();
    ran.length = 0;
    const left = await json([
      'approve',
      'order 7',
      '--input',
      '{"to":"Ann","amount":9}',
      '--by',
      'boss',
      '--store',
      path,
    ]);
    expect(left).toMatchObject({ callId: 'call_1_0', tool: 'pay', isNew: true, outcome: { type: 'waiting' } });
    expect((await agentchart(['show', 'order 7', '--store', path])).stdout).toMatch(
      /In the inbox.*:\n {2}#\d+ {2}approve call_1_0 with \{"to":"Ann","amount":9\} by boss/,
    );
    expect(ran).toEqual([]);
    expect(await goOn()).toMatchObject({ outcome: { type: 'answered' }, text: 'Done.' });
    expect(ran).toEqual([{ to: 'Ann', amount: 9 }]);
  });

  test('R27: a rejection with its reason; the tool does not run', async () => {
    await waiting();
    ran.length = 0;
    await json(['reject', 'order 7', 'call_1_0', '--reason', 'too much', '--store', path]);
    const { messages } = await goOn();
    expect(JSON.stringify(messages)).toContain('Tool call invocation rejected. too much');
    expect(ran).toEqual([]);
  });

  test('an answer in the place of the tool', async () => {
    await waiting();
    await json(['respond', 'order 7', 'call_1_0', '--output', '"paid by hand"', '--store', path]);
    expect(JSON.stringify((await goOn()).messages)).toContain('paid by hand');
  });

  test('R29: a decision on what does not wait is refused and leaves nothing', async () => {
    await waiting('order 7', call('pay', { to: 'Bob', amount: 1 }));
    const unnamed = await agentchart(['approve', 'order 7', '--store', path]);
    expect(unnamed).toMatchObject({ status: 2, stderr: 'Say which call: call_1_0 (pay), call_1_1 (pay).\n' });
    const unknown = await agentchart(['approve', 'order 7', 'call_9_9', '--store', path]);
    expect(unknown.status).toBe(1);
    expect(unknown.stderr).toContain('(unknown-call)');
    const nobody = await agentchart(['show', 'nobody', '--store', path]);
    expect(nobody).toMatchObject({ status: 1, stderr: 'the store has no session "nobody" (unknown-session)\n' });
    const store = sqliteStore(path);
    expect(await store.inbox('order 7')).toEqual([]);
    await store.close();
  });

  test('R31: where the session lives elsewhere, what became of a decision is told; one that is refused is kept with the reason', async () => {
    await waiting();
    const store = sqliteStore(path);
    const agent = createAgent({
      name: 'clerk',
      model: scriptedModel(['Done.']),
      tools: [pay],
      store,
      approvals: { authorize: ({ by }) => by === 'boss' },
    });
    const session = await agent.open('order 7');
    const refused = await inProcess(['approve', 'order 7', '--by', 'clerk', '--store', path]);
    expect(refused).toMatchObject({ status: 1, stderr: '' });
    expect(refused.stdout).toMatch(
      /^Session order 7 has refused it: approve call_1_0 by clerk: clerk may not .*\(not-authorized\)\n$/,
    );
    const { stdout } = await agentchart(['show', 'order 7', '--store', path]);
    expect(stdout).toMatch(/Refused:\n {2}#\d+ {2}approve call_1_0 by clerk: .* \(not-authorized\)/);
    expect(await json(['approve', 'order 7', '--by', 'boss', '--store', path])).toMatchObject({
      outcome: { type: 'taken' },
    });
    expect((await session.settled()).text).toBe('Done.');
    await agent.close();
    await store.close();
  });

  test('the history says what happened in words, for machines with the names of the chart', async () => {
    await waiting();
    await json(['approve', 'order 7', '--store', path]);
    await goOn();
    const { stdout } = await agentchart(['history', 'order 7', '--store', path]);
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^REVISION +AT \(UTC\) +STEP +WHAT HAPPENED$/);
    expect(lines.map((line) => line.slice(head.indexOf('WHAT')))).toEqual([
      'a message came: the model is asked',
      'the model call is over: the calls are at work',
      'a call has got further: the calls wait for people',
      'a call has got further: the calls are at work',
      'a call has got further: all calls have their results',
      'the model is asked',
      'the model call is over: the turn is answered',
    ]);
    expect(await json(['history', 'order 7', '--after', '1', '--store', path])).toContainEqual(
      expect.objectContaining({ event: 'xstate.done.actor.model' }),
    );
  });

  test('every state and every event of the chart has its words', () => {
    const { machine } = createAgent({ model: scriptedModel([]) });
    const leavesOf = (node: AnyStateNode): string[] => {
      const inner = Object.values(node.states);
      return inner.length === 0 ? [node.path.join('.')] : inner.flatMap(leavesOf);
    };
    const states = leavesOf(machine.root as unknown as AnyStateNode);
    expect(states).toContain('thinking.backing-off');
    for (const to of states)
      expect(stepText({ from: 'x', to, event: 'user.message' })).not.toBe(`a message came: ${to}`);
    for (const event of machine.events)
      expect(stepText({ from: 'x', to: 'idle', event })).not.toBe(`${event}: no message has come yet`);
  });

  test('a session goes out as a document and comes in again, also under another id, never over another', async () => {
    await waiting();
    const { stdout } = await agentchart(['export', 'order 7', '--store', path]);
    const file = join(folder, 'order.json');
    await writeFile(file, stdout);
    const other = join(folder, 'other.db');
    expect(await json(['import', file, '--store', other])).toEqual({ sessionId: 'order 7' });
    const again = await inProcess(['import', '-', '--store', other], stdout);
    expect(again.stderr).toContain('(session-exists)');
    expect(await json(['import', file, '--as', 'copy', '--store', other])).toEqual({ sessionId: 'copy' });
    path = other;
    await json(['approve', 'copy', '--store', other]);
    expect(await goOn('copy')).toMatchObject({ outcome: { type: 'answered' } });
    await writeFile(file, '{"format":');
    expect((await agentchart(['import', file, '--store', other])).stderr).toContain('(invalid-document)');
  });

  test('sessions are deleted one by one, or by their age', async () => {
    await waiting();
    expect(await json(['delete', '--older-than', '1d', '--store', path])).toEqual({ deleted: 0 });
    expect(await json(['delete', 'order 7', '--store', path])).toEqual({ deleted: 1 });
    expect((await agentchart(['delete', 'order 7', '--store', path])).status).toBe(1);
    await waiting();
    expect(await json(['delete', '--older-than', '0m', '--store', path])).toEqual({ deleted: 1 });
  });

  const writeModule = async (name: string, exported: string): Promise<string> => {
    const module = join(folder, name);
    await writeFile(
      module,
      `import { createAgent, tool } from ${JSON.stringify(join(root, 'src/index.ts'))};
       import { scriptedModel } from ${JSON.stringify(join(root, 'src/testing/index.ts'))};
       const call = { message: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'pay', input: {} }] }, finishReason: 'tool-calls' };
       const pay = tool({ name: 'pay', description: 'Pays', inputSchema: { jsonSchema: { type: 'object' } }, needsApproval: true, execute: () => 'paid' });
       const model = { name: 'm', generate: async ({ messages }) => messages.at(-1).role === 'tool' ? { message: { role: 'assistant', content: 'All paid.' }, finishReason: 'stop' } : call };
       export default ${exported};`,
    );
    return module;
  };

  test('runs the agent of a module: 0 answered, 3 where it waits, and goes on in the same session', async () => {
    const module = await writeModule(
      'agent.mjs',
      '({ store }) => createAgent({ model, tools: [pay], ...(store ? { store } : {}) })',
    );
    const place = join(folder, 'run.db');
    const first = await inProcess(['run', module, 'Pay', '--session', 's', '--store', place]);
    expect(first).toMatchObject({ status: 3, stderr: '' });
    expect(first.stdout).toContain('waits: call_1_0  pay {}');
    expect((await agentchart(['approve', 's', '--store', place])).status).toBe(0);
    const store = sqliteStore(place);
    const late = await store.post('s', { type: 'call.cancel', callId: 'call_9_9' });
    await store.close();
    const second = await inProcess(['run', module, '--session', 's', '--store', place]);
    expect(second).toMatchObject({ status: 0, stderr: '' });
    expect(second.stdout).toBe(
      `All paid.\nrefused: command #${late}: there is no open call "call_9_9" in this session (unknown-call)\nsession s\n`,
    );
  });

  test('run says where a session is kept nowhere, and how to keep one; AGENTCHART_STORE is a store as good as --store', async () => {
    const maker = await writeModule('maker.mjs', '({ store }) => createAgent({ model, tools: [pay], store })');
    const alone = await writeModule('alone.mjs', 'createAgent({ model, tools: [pay] })');
    const deaf = await writeModule('deaf.mjs', '() => createAgent({ model, tools: [pay] })');
    const place = join(folder, 'kept.db');
    vi.stubEnv('AGENTCHART_STORE', '');
    const lastLine = async (...args: string[]): Promise<string | undefined> => {
      const { status, stdout, stderr } = await agentchart(['run', ...args, 'Pay', '--session', 's']);
      expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
      return stdout.trimEnd().split('\n').at(-1);
    };
    const nowhere = 'session s is kept nowhere; to keep sessions, ';
    expect(await lastLine(maker)).toBe(`${nowhere}use --store <SQLite file or postgres://…>`);
    expect(await lastLine(alone)).toBe(
      `${nowhere}give the agent a store, or export ({ store }) => agent and use --store`,
    );
    expect(await lastLine(deaf, '--store', place)).toBe(
      `${nowhere}${deaf} has to give its agent the { store } that it gets`,
    );
    expect((await agentchart(['run', alone, 'Pay', '--store', place])).stderr).toContain(
      'an agent that is made already, so that it cannot take the store of --store; export a function',
    );
    const { stdout } = await agentchart(['run', maker, 'Pay', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ isKept: false });
    vi.stubEnv('AGENTCHART_STORE', place);
    expect(await lastLine(maker)).toBe('session s');
    const another = await writeModule('another.mjs', 'createAgent({ model, tools: [pay] })');
    expect(await lastLine(another)).toContain('kept nowhere');
    expect(await json(['sessions'])).toMatchObject([{ sessionId: 's', status: 'waiting' }]);
    vi.unstubAllEnvs();
  });

  test('a PostgreSQL store without the package that it needs says which', async () => {
    const hook = join(folder, 'without-pg.mjs');
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module';
       const resolve = (name, context, next) => next(name, name === 'pg' ? { ...context, parentURL: 'file:///nowhere.js' } : context);
       registerHooks({ resolve });`,
    );
    const { status, stderr } = await inProcess(
      ['sessions', '--store', 'postgres://127.0.0.1/none'],
      '',
      'pipe',
      `--import=${pathToFileURL(hook).href}`,
    );
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'PostgreSQL needs the package pg: npm install pg (store-error)\n',
    });
  });

  test('wrong usage is exit status 2 and says what is right', async () => {
    await waiting();
    const cases: [string[], RegExp][] = [
      [[], /agentchart sessions/],
      [['sing'], /^There is no command "sing"\. `agentchart --help` lists them all\.\n$/],
      [['session'], /^There is no command "session"\. Is it "sessions"\? `agentchart --help` lists them all\.\n$/],
      [['aprove', 'order 7'], /^There is no command "aprove"\. Is it "approve"\?/],
      [['inspct'], /^There is no command "inspct"\. Is it "inspect"\?/],
      [['constructor'], /^There is no command "constructor"\. `/],
      [['sessions'], /--store/],
      [['sessions', '--store', join(folder, 'none.db')], /There is no file/],
      [['sessions', '--store', path, '--status', 'odd'], /none of idle, busy, waiting/],
      [['sessions', '--store', path, '--reason', 'x'], /takes no --reason/],
      [['show', '--store', path], /Give <session>/],
      [['show', 'order 7', '--at', 'x', '--store', path], /whole number/],
      [['approve', 'order 7', '--input', '{', '--store', path], /--input must be JSON/],
      [['delete', '--older-than', 'soon', '--store', path], /30d/],
      [['delete', 'order 7', '--older-than', '0m', '--store', path], /no place for "order 7"/],
      [['show', 'order 7', 'order 8', '--store', path], /no place for "order 8"/],
      [['run', '--store', path], /Give <module>/],
      [['show', 'order 7', '--nonsense'], /nonsense/],
      [['inspect', 'a', 'b'], /no place for "b"/],
      [['inspect', path, '--json'], /inspect takes no --json/],
      [['--store', path, 'inspect', '--port', 'x'], /--port must be a whole number/],
      [['sessions', '--store', path, '--port', '1'], /sessions takes no --port/],
    ];
    for (const [args, says] of cases) {
      const { status, stderr } = await agentchart(args);
      expect(stderr).toMatch(says);
      expect(status).toBe(2);
    }
    expect(await agentchart(['--help'])).toMatchObject({ status: 0, stderr: '' });
    expect((await agentchart(['inspect', '--help'])).stdout).toContain('--port NUMBER');
    await expect(readFile(join(folder, 'none.db'))).rejects.toThrow('ENOENT');
  });

  test('with --json what goes wrong is JSON, too, whatever was thrown', async () => {
    await waiting();
    const module = join(folder, 'odd.mjs');
    await writeFile(module, "throw 'no model here'\n");
    const cases: [string[], number, object][] = [
      [['show', 'none', '--store', path], 1, { code: 'unknown-session', message: expect.stringContaining('"none"') }],
      [
        ['history', 'none', '--store', path],
        1,
        { code: 'unknown-session', message: expect.stringContaining('"none"') },
      ],
      [['show', '--store', path], 2, { name: 'UsageError', message: 'Give <session>.' }],
      [['show', '--nonsense'], 2, { message: expect.stringContaining('nonsense') }],
      [['run', module, 'hi'], 1, { message: 'no model here' }],
    ];
    for (const [args, exit, error] of cases) {
      const { status, stdout, stderr } = await agentchart([...args, '--json']);
      expect([status, stdout]).toEqual([exit, '']);
      expect(JSON.parse(stderr)).toMatchObject({ error });
    }
    expect(await agentchart(['run', module, 'hi'])).toEqual({ status: 1, stdout: '', stderr: 'no model here\n' });
  });

  test('what a terminal would obey is shown as text', async () => {
    await waiting('\u001b[31mred');
    const { stdout } = await agentchart(['sessions', '--store', path]);
    expect(stdout).toContain('\\u001b[31mred');
    expect(stdout).not.toContain('\u001b');
  });

  test.skipIf(process.platform !== 'linux')('an output that cannot be written is a failure', async () => {
    const full = await open('/dev/full', 'w');
    try {
      const { status, stderr } = await inProcess(['--help', '--json'], '', full.fd);
      expect(status).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { message: expect.stringContaining('the output could not be written: ENOSPC') },
      });
    } finally {
      await full.close();
    }
  });
});
