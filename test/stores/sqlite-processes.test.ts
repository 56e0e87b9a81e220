import { execFile, spawn } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { StoredSession } from '../../src/stores/store.ts';
import { commitOf } from '../../src/testing/store-case.ts';
import { runFile } from '../support/process.ts';

const script = (name: string): URL => new URL(`./scripts/${name}.ts`, import.meta.url);

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-sqlite-'));
  path = join(folder, 'sessions.db');
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

test('three processes begin one file at once and write it at once; none loses a commit', async () => {
  const names = ['a', 'b', 'c'];
  const reports = await Promise.all(names.map((name) => runFile(script('race'), [path, name, '40'])));
  const store = sqliteStore(path);
  for (const name of names) {
    expect((await store.read(name))?.messages).toHaveLength(40);
  }
  const shared = await store.read('shared');
  const winners: string[] = [];
  for (const [index, { won }] of reports.entries()) {
    for (const revision of won as number[]) winners[revision - 1] = `"${names[index]}"`;
  }
  expect(shared?.messages).toEqual(winners);
  expect(shared?.revision).toBe(winners.length);
  expect(
    (await store.inbox('shared')).map(({ event }) => ('reason' in event ? String(event.reason) : '')).toSorted(),
  ).toEqual(names);
  await store.close();
});

test('a watcher hears of what another process posts', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf({ agent: 'shared', sessionId: 'shared' }, 1));
  const noticed = new Promise<void>((resolve) => {
    store.watch?.('shared', resolve);
  });
  await runFile(script('race'), [path, 'other', '1']);
  await noticed;
  expect(await store.inbox('shared')).toMatchObject([{ event: { reason: 'other' } }]);
  await store.close();
});

test('a process that watches ends by itself', async () => {
  expect(await runFile(script('watch-and-end'), [path])).toEqual({ watches: true });
});

/** Every part of it tells the same revision. */
const isOfOneRevision = (session: StoredSession): boolean => {
  const { revision, messages, states, summary } = session;
  return (
    summary.revision === revision &&
    states.join() === `{"state":${revision}}` &&
    messages.length === revision * 2 &&
    messages.every((message, index) => message.startsWith(`"${Math.floor(index / 2) + 1} `))
  );
};

/** Runs until so many commits were confirmed, then ends it by `kill -9`; the last revision that was confirmed. */
const killedAfter = (commits: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script('commit-until-killed').pathname, path],
      {
        env: { ...process.env, NODE_OPTIONS: '' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let confirmed = 0;
    let count = 0;
    createInterface({ input: child.stdout }).on('line', (line) => {
      confirmed = Number(line);
      count += 1;
      if (count === commits) child.kill('SIGKILL');
    });
    child.once('error', reject).once('close', () => resolve(confirmed));
  });

test('B131: kill -9 in the middle of commits leaves the old or the new state, never a mix', async () => {
  for (const commits of [1, 20, 61]) {
    const confirmed = await killedAfter(commits);
    const store = sqliteStore(path);
    const session = await store.read('killed');
    if (session === undefined) throw new Error('a confirmed session is gone');
    expect(session.revision).toBeGreaterThanOrEqual(confirmed);
    expect(isOfOneRevision(session)).toBe(true);
    expect((await store.history('killed')).map(({ revision }) => revision)).toEqual(
      Array.from({ length: session.revision }, (_, index) => index + 1),
    );
    await store.close();
  }
});

test('B131: a log that is cut anywhere gives the old or the new state, and takes the next commit', async () => {
  const session = { agent: 'agent', sessionId: 'cut' };
  const store = sqliteStore(path);
  const commit = (revision: number) =>
    commitOf(session, revision, {
      messages: [`"${revision} a"`, `"${revision} b"`],
      summary: { messages: revision * 2 },
    });
  for (const revision of [1, 2]) await store.commit(commit(revision));
  const before = (await readFile(`${path}-wal`)).length;
  await store.commit(commit(3));
  const log = await readFile(`${path}-wal`);
  const copy = join(folder, 'copy.db');
  const seen = new Set<number>();
  for (let end = before; end <= log.length; end += end === log.length ? 1 : Math.min(257, log.length - end)) {
    await copyFile(path, copy);
    await writeFile(`${copy}-wal`, log.subarray(0, end));
    await rm(`${copy}-shm`, { force: true });
    const cut = sqliteStore(copy);
    const read = await cut.read('cut');
    if (read === undefined || !isOfOneRevision(read)) throw new Error(`cut at ${end}: ${JSON.stringify(read)}`);
    seen.add(read.revision);
    await cut.commit(commit(read.revision + 1));
    expect((await cut.read('cut'))?.messages).toHaveLength((read.revision + 1) * 2);
    await cut.close();
  }
  expect([...seen]).toEqual([2, 3]);
  await store.close();
});

test.skipIf(process.platform === 'win32')(
  'B131: a full disk rejects with the cause; what was confirmed stays and can be read',
  async () => {
    // Files of this process may have 200 blocks of 512 or 1,024 bytes.
    const command = 'ulimit -f 200; exec "$0" --disable-warning=ExperimentalWarning "$1" "$2"';
    const args = ['-c', command, process.execPath, script('fill-the-disk').pathname, path];
    const { stdout } = await promisify(execFile)('sh', args, { env: { ...process.env, NODE_OPTIONS: '' } });
    const { confirmed, first, second, revision, messages } = JSON.parse(stdout) as {
      confirmed: number;
      first: unknown;
      second: unknown;
      revision: number;
      messages: number;
    };
    const error = {
      code: 'store-error',
      message: expect.stringMatching(/^SQLite file ".*sessions\.db": .*(full|disk I\/O)/),
    };
    expect([first, second]).toEqual([error, error]);
    expect(confirmed).toBeGreaterThan(0);
    expect([revision, messages]).toEqual([confirmed, confirmed]);
    const store = sqliteStore(path);
    expect(await store.read('full')).toMatchObject({ revision: confirmed });
    await store.commit(commitOf({ agent: 'agent', sessionId: 'full' }, confirmed + 1));
    await store.close();
  },
);

test.skipIf(process.platform === 'win32')(
  'a file that may only be read can be read; a commit rejects with the cause',
  async () => {
    const store = sqliteStore(path);
    await store.commit(commitOf({ agent: 'agent', sessionId: 'kept' }, 1));
    await store.close();
    await chmod(path, 0o444);
    await chmod(folder, 0o777);
    expect(await runFile(script('read-only'), [path])).toEqual({
      revision: 1,
      code: 'store-error',
      message: `SQLite file "${path}": attempt to write a readonly database`,
      after: 1,
    });
  },
);

test.skipIf(process.platform === 'win32')(
  'a file in a folder that cannot be written is refused with that reason',
  async () => {
    const store = sqliteStore(path);
    await store.commit(commitOf({ agent: 'agent', sessionId: 'kept' }, 1));
    await store.close();
    await chmod(path, 0o666);
    await chmod(folder, 0o555);
    const told = {
      code: 'store-error',
      message: expect.stringMatching(/: its folder must be writable, and is not for this process$/),
    };
    expect(await runFile(script('read-only'), [path])).toEqual(told);
    expect(await runFile(script('read-only'), [join(folder, 'new.db')])).toEqual(told);
    await chmod(folder, 0o755);
  },
);
