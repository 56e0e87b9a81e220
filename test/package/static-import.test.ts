import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'src');
const pipeline = join(source, 'sessions', 'pipeline.ts');

const bundle = (contents: string, options: BuildOptions) =>
  build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    conditions: ['agentchart-source', 'module'],
    external: ['node:*'],
    metafile: true,
    logLevel: 'silent',
    ...options,
  });

/** The files of the source that a page loads before anything of a program runs. */
const loadedAtOnce = async (contents: string): Promise<string[]> => {
  const { metafile } = await bundle(contents, { platform: 'browser', splitting: true, write: false, outdir: 'out' });
  const outputs = metafile?.outputs ?? {};
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  for (const path of found)
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  return [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})).map((path) => join(root, path));
};

/** What the pipeline is made of, and what comes with no part of it but those. */
const partsOfPipeline = async (): Promise<string[]> => {
  const text = await readFile(pipeline, 'utf8');
  return [...text.matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(([, name = '']) => join(source, 'sessions', name));
};

test('no part of the pipeline is imported with the core, nor is what reads stored sessions for those who only look', async () => {
  const parts = await partsOfPipeline();
  expect(parts.map((path) => basename(path, '.ts'))).toEqual(
    expect.arrayContaining(['around-turns', 'ask-providers', 'prepare-request', 'tell-turn', 'turn-so-far']),
  );
  const others = ['compact-conversation', 'check-provided', 'read-only-session'];
  const core = await loadedAtOnce(`export { createAgent, tool } from './src/index.ts';`);
  expect(core).toContain(join(source, 'sessions', 'create-agent.ts'));
  const late = [pipeline, ...parts, ...others.map((name) => join(source, 'sessions', `${name}.ts`))];
  expect(core.filter((path) => late.includes(path))).toEqual([]);
  const folders = ['compaction', 'middleware', 'otel'].map((name) => join(source, name));
  expect(core.filter((path) => folders.some((folder) => path.startsWith(folder)))).toEqual([]);
});

/** What the programs below are made with, and what each of them tells. */
const lent = `
  export { createAgent, tool } from './src/index.ts';
  export { scriptedModel } from './src/testing/index.ts';
  export const told = [];
  export const note = async (work) => {
    const [outcome] = await Promise.allSettled([work()]);
    told.push(outcome.value ?? outcome.reason.code + ': ' + outcome.reason.message);
  };`;

let folder = '';

const pack = (name: string, splitting: boolean) =>
  bundle(lent, {
    platform: 'node',
    splitting,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    entryNames: name,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-static-'));
  await Promise.all([pack('split', true), pack('whole', false)]);
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Runs a program in a process of its own, in which nothing is loaded yet; `part` is the file that is loaded later. */
const run = async (bundled: string, program: string): Promise<unknown> => {
  const part = (await readdir(folder)).find((name) => name.startsWith('pipeline-')) ?? 'none';
  const file = join(folder, 'program.mjs');
  await writeFile(
    file,
    `import { renameSync } from 'node:fs';
     import { createAgent, note, scriptedModel, told, tool } from './${bundled}.mjs';
     const hide = () => renameSync('${part}', 'away');
     const giveBack = () => renameSync('away', '${part}');
     ${program}
     process.stdout.write(JSON.stringify(told));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
  return JSON.parse(stdout);
};

/** An agent that needs several parts of the pipeline, and a reader who comes late. */
const turns = `
  const model = scriptedModel(['one']);
  const compact = ({ messages }) => ({ messages, by: [] });
  const provider = { name: 'p', beforeTurn: () => ({ instructions: 'be brief' }) };
  const agent = createAgent({ model, compaction: { compact }, contextProviders: [provider] });
  const session = await agent.open('s');
  const late = async () => {
    let last;
    for await (const { type } of session.stream()) last = type;
    return last;
  };`;

test('a part that cannot be loaded ends the turn and says so, and a retry loads it again', async () => {
  const program = `${turns}
    hide();
    await note(async () => (await agent.run('Hi', { session: 's' })).text);
    await note(late);
    giveBack();
    await session.retry();
    await note(async () => (await session.settled()).text);
    await note(late);`;
  const failed = expect.stringMatching(/^load-failed: the pipeline of agentchart could not be loaded: /);
  expect(await run('split', program)).toEqual([failed, failed, 'one', 'finish']);
});

test('a bundle of one file has it all', async () => {
  expect((await readdir(folder)).filter((name) => name.startsWith('whole'))).toEqual(['whole.mjs']);
  const program = `${turns}
    await note(async () => (await agent.run('Hi', { session: 's' })).text);
    await note(late);`;
  expect(await run('whole', program)).toEqual(['one', 'finish']);
});

/** A session that waits for an approval, as a document, and an agent with middleware that notes what it sees. */
const waiting = `
  const inputSchema = { jsonSchema: { type: 'object' }, validate: (input) => input };
  const tools = [tool({ name: 'pay', inputSchema, needsApproval: true, execute: () => 'paid' })];
  const call = { toolCalls: [{ name: 'pay', input: {} }] };
  const first = createAgent({ model: scriptedModel([call]), tools });
  const { sessionId, pending: [{ callId }] } = await first.run('Pay.');
  const document = JSON.parse(JSON.stringify(await first.open(sessionId)));
  const seen = [];
  const noting = (next) => async (turn) => {
    seen.push(turn.isContinued ? 'continued' : turn.messages[0].content);
    const result = await next(turn);
    seen.push(result.text);
    return result;
  };
  const model = scriptedModel(['It is paid.', 'You are welcome.']);
  const agent = createAgent({ model, tools, agentMiddleware: [noting] });`;

test('R46: a session that is restored before its middleware is loaded begins with it, and keeps the order of what it is asked', async () => {
  const program = `${waiting}
    const session = agent.restore(document);
    told.push(session.status, session.pending.length);
    const decided = session.approve(callId);
    const fate = session.send('Thanks!');
    await note(async () => ((await decided), (await fate).type));
    await note(async () => (await session.settled()).text);
    told.push(seen);`;
  expect(await run('split', program)).toEqual([
    'waiting',
    1,
    'delivered',
    'You are welcome.',
    ['continued', 'Thanks!', 'It is paid.', 'You are welcome.'],
  ]);
});

test('R46: a session whose middleware cannot be loaded does nothing; restored again it goes on', async () => {
  const program = `${waiting}
    hide();
    const lost = agent.restore(document);
    await note(() => lost.approve(callId));
    await note(() => agent.run('Hi'));
    told.push(lost.status, model.requests.length);
    giveBack();
    const closed = agent.restore(document);
    await closed[Symbol.asyncDispose]();
    await note(() => closed.approve(callId));
    const session = agent.restore(document);
    await session.approve(callId);
    await note(async () => (await session.settled()).text);
    told.push(seen);`;
  expect(await run('split', program)).toEqual([
    expect.stringMatching(/^load-failed: /),
    expect.stringMatching(/^load-failed: /),
    'closed',
    0,
    expect.stringMatching(/^session-closed: /),
    'It is paid.',
    ['continued', 'It is paid.'],
  ]);
});
