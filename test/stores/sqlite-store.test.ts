import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { commitOf } from '../../src/testing/store-case.ts';
import { rejection } from '../support/sessions.ts';

const session = { agent: 'agent', sessionId: 'one' };
const of = (sessionId: string) => ({ agent: 'agent', sessionId });

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-sqlite-'));
  path = join(folder, 'sessions.db');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const sizeOf = async (file: string): Promise<number> => {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
};

test('a path that cannot be opened rejects with path and cause, and works once the cause is gone', async () => {
  const missing = join(folder, 'missing', 'sessions.db');
  const store = sqliteStore(missing);
  const calls = [
    () => store.read('one'),
    () => store.commit(commitOf(session, 1)),
    () => store.list(),
    () => store.deleteBefore(1),
  ];
  for (const call of calls) {
    expect(await rejection(call())).toMatchObject({
      code: 'store-error',
      message: `SQLite file "${missing}": unable to open database file: its folder does not exist`,
    });
  }
  const inFolder = await rejection(sqliteStore(folder).list());
  expect(inFolder).toMatchObject({ code: 'store-error', message: expect.stringContaining(`"${folder}"`) });
  expect(inFolder.message).toContain('it is a folder');

  await mkdir(join(folder, 'missing'));
  await store.commit(commitOf(session, 1));
  expect(await store.read('one')).toMatchObject({ revision: 1 });
  await store.close();
});

test.skipIf(process.platform === 'win32')(
  'a file that is moved or deleted while it is open takes nothing more and says so; one that is back goes on',
  async () => {
    const store = sqliteStore(path);
    let revision = 0;
    const write = () => store.commit(commitOf(session, (revision += 1)));
    const failure = () =>
      write().then(
        () => undefined,
        (error: unknown) => ((revision -= 1), error),
      );
    const told = {
      code: 'store-error',
      message: expect.stringContaining(`"${path}": it was moved or deleted while it was open`),
    };
    await write();
    await rename(path, `${path}.away`);
    await expect.poll(failure).toMatchObject(told);
    const taken = revision;
    for (const work of [write, () => store.post('one', { type: 'turn.stop' }), () => store.delete('one')])
      expect(await rejection(work())).toMatchObject(told);
    revision = taken;
    expect((await store.read('one'))?.revision).toBe(taken);

    await rename(`${path}.away`, path);
    await write();
    await rm(path);
    const other = sqliteStore(path);
    await other.commit(commitOf(session, 1));
    await expect.poll(failure).toMatchObject(told);
    expect((await other.read('one'))?.revision).toBe(1);
    await store.close();
    await other.close();
  },
);

test.skipIf(process.platform === 'win32')(
  'a file whose log is deleted while it is open takes nothing more, and has all that it took when it is closed',
  async () => {
    const link = join(folder, 'link.db');
    await symlink(path, link);
    const store = sqliteStore(link);
    await store.commit(commitOf(session, 1));
    await rm(`${path}-wal`);
    let taken = 1;
    const failure = () =>
      store.commit(commitOf(session, taken + 1)).then(
        () => void (taken += 1),
        (error: unknown) => error,
      );
    await expect.poll(failure).toMatchObject({
      code: 'store-error',
      message: expect.stringContaining(`"${link}": its log "${path}-wal" was moved or deleted while it was open`),
    });
    await store.close();
    const next = sqliteStore(path);
    expect((await next.read('one'))?.revision).toBe(taken);
    await next.close();
  },
);

test('a store that is closed sets no timer for those who watch it afterwards', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf(session, 1));
  await store.close();
  const timer = vi.spyOn(globalThis, 'setInterval');
  store.watch?.('one', () => undefined);
  expect(timer).not.toHaveBeenCalled();
});

test('a time that no process could read again is refused, and harms no list of the others', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf(session, 1));
  for (const time of [1.79e18, -(2 ** 60), Number.NaN, Infinity]) {
    for (const summary of [{ createdAt: time }, { updatedAt: time }])
      expect(await rejection(store.commit(commitOf(of('two'), 1, { summary })))).toMatchObject({
        message: expect.stringContaining(`of a commit is ${time}, which cannot be stored`),
      });
  }
  expect((await store.list()).map(({ sessionId }) => sessionId)).toEqual(['one']);
  await store.close();
});

test('a file of the first schema is brought to this one, with what lies in its inbox', async () => {
  const before = sqliteStore(path);
  await before.commit(commitOf(session, 1));
  const id = await before.post('one', { type: 'turn.stop' });
  await before.close();
  const lowered = new DatabaseSync(path);
  lowered.exec(`alter table commands drop column refused; alter table commits drop column messages;
    alter table messages_apart rename to messages; pragma user_version = 1`);
  lowered.close();
  const store = sqliteStore(path);
  expect(await store.inbox('one')).toMatchObject([{ id, event: { type: 'turn.stop' } }]);
  await store.commit(commitOf(session, 2, { refused: [{ id, code: 'session-idle', message: 'why' }] }));
  expect(await store.refusals('one')).toMatchObject([{ id, code: 'session-idle', message: 'why' }]);
  await store.close();
});

test('of a busy session the row stays as it is, and everything that is asked about it is of its last commit', async () => {
  const store = sqliteStore(path);
  const rowOf = (): unknown => {
    const file = new DatabaseSync(path);
    const row = file.prepare('select * from sessions').get();
    file.close();
    return row;
  };
  await store.commit(commitOf(session, 1));
  const row = rowOf();
  for (const revision of [2, 3, 4]) await store.commit(commitOf(session, revision));
  expect(rowOf()).toEqual(row);
  const { summary } = commitOf(session, 4);
  expect(await store.list({ status: 'busy' })).toEqual([summary]);
  expect(await store.list({ changedBefore: summary.updatedAt })).toEqual([]);
  expect(await store.deleteBefore(summary.updatedAt)).toBe(0);
  expect(await store.read('one')).toMatchObject({ summary, revision: 4 });
  expect(await rejection(store.commit(commitOf(session, 4)))).toMatchObject({ code: 'session-conflict' });

  const pending = commitOf(session, 5, { summary: { pending: 2 } });
  await store.commit(pending);
  expect(await store.list()).toEqual([pending.summary]);
  const settled = commitOf(session, 6, { summary: { status: 'settled' } });
  await store.commit(settled);
  expect(rowOf()).toMatchObject({ revision: 6, updated: settled.summary.updatedAt, messages: 6, stored: 6 });
  expect(await store.deleteBefore(settled.summary.updatedAt + 1)).toBe(1);
  await store.close();
});

test('R39: a busy session that another store object wrote, or deleted and began anew, is written no more by the one before', async () => {
  const [mine, theirs] = [sqliteStore(path), sqliteStore(path)];
  for (const revision of [1, 2, 3]) await mine.commit(commitOf(session, revision));
  await theirs.commit(commitOf(session, 4));
  expect(await rejection(mine.commit(commitOf(session, 4)))).toMatchObject({ code: 'session-conflict' });
  await mine.commit(commitOf(session, 5));
  await mine.commit(commitOf(session, 6));
  expect(await theirs.read('one')).toMatchObject({
    messages: [1, 2, 3, 4, 5, 6].map((revision) => `{"message":${revision}}`),
  });
  await theirs.delete('one');
  expect(await rejection(mine.commit(commitOf(session, 7)))).toMatchObject({ code: 'session-conflict' });
  await mine.commit(commitOf(session, 1));
  await theirs.delete('one');
  await theirs.commit(commitOf(of('two'), 1));
  expect(await rejection(mine.commit(commitOf(session, 2)))).toMatchObject({ code: 'session-conflict' });
  expect(await mine.read('two')).toMatchObject({ revision: 1 });
  await mine.close();
  await theirs.close();
});

test('messages are in order, whether a commit brought a few of them or many', async () => {
  const store = sqliteStore(path);
  let said = 0;
  const some = (count: number): string[] => Array.from({ length: count }, () => `{"said":${said++}}`);
  for (const [index, count] of [2, 3000, 0, 1, 16, 17, 1].entries()) {
    await store.commit(commitOf(session, index + 1, { messages: some(count), summary: { messages: said } }));
  }
  const textsAt = async (at: number): Promise<string[] | undefined> => (await store.read('one', { at }))?.messages;
  const all = Array.from({ length: said }, (_, index) => `{"said":${index}}`);
  expect(await textsAt(7)).toEqual(all);
  expect(await textsAt(5)).toEqual(all.slice(0, 3019));
  expect(await textsAt(1)).toEqual(all.slice(0, 2));
  await store.delete('one');
  expect(await store.read('one')).toBeUndefined();
  await store.close();
});

test('a file that has had billions of sessions takes the next ones, and each revision has its own place', async () => {
  const before = sqliteStore(path);
  await before.commit(commitOf(of('old'), 1));
  await before.close();
  const aged = new DatabaseSync(path);
  aged.exec('update sessions set key = 2147480000; update commits set id = (2147480000 << 32) + 1');
  aged.close();
  const store = sqliteStore(path);
  for (const each of [of('old'), session]) {
    for (const revision of [2, 3, 4, 5, 6].map((next) => (each === session ? next - 1 : next)))
      await store.commit(commitOf(each, revision));
    expect((await store.read(each.sessionId, { at: 3 }))?.messages).toHaveLength(3);
    expect((await store.history(each.sessionId, { after: 2 })).map(({ revision }) => revision)).toContain(3);
  }
  expect(await store.read('old')).toMatchObject({ revision: 6 });
  expect(await store.read('one')).toMatchObject({ revision: 5 });
  await store.close();
});

test('a file that is no database of ours is refused and left as it is', async () => {
  await writeFile(path, 'This is a text, and somebody wants to keep it.'.repeat(100));
  const foreign = join(folder, 'foreign.db');
  const newer = join(folder, 'newer.db');
  const other = new DatabaseSync(foreign);
  other.exec('create table sessions (mine text)');
  other.close();
  const own = sqliteStore(newer);
  await own.commit(commitOf(session, 1));
  await own.close();
  const raised = new DatabaseSync(newer);
  raised.exec('pragma user_version = 99');
  raised.close();
  for (const [file, reason] of [
    [path, 'file is not a database'],
    [foreign, 'it is the database of another program'],
    [newer, 'it was written by a newer version of this package: schema 99, this one knows 4'],
  ] as const) {
    const before = await readFile(file);
    const store = sqliteStore(file);
    expect(await rejection(store.commit(commitOf(session, 1)))).toMatchObject({
      code: 'store-error',
      message: `SQLite file "${file}": ${reason}`,
    });
    await store.close();
    expect((await readFile(file)).equals(before)).toBe(true);
  }
});

test('a path that is no text and a Node without SQLite are refused at once', () => {
  expect(() => sqliteStore('')).toThrowError(expect.objectContaining({ code: 'invalid-option' }));
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  expect(() => sqliteStore(path)).toThrowError(
    expect.objectContaining({ code: 'store-error', message: expect.stringContaining('22.13') }),
  );
});

test('the commits of one tick are one transaction, and one that cannot be stored harms no other', async () => {
  const many = Array.from({ length: 50 }, (_, index) => of(`many-${index}`));
  const together = sqliteStore(path);
  const inTurn = sqliteStore(join(folder, 'in-turn.db'));
  for (const store of [together, inTurn]) await store.list();
  const start = await sizeOf(`${path}-wal`);
  await Promise.all(many.map((item) => together.commit(commitOf(item, 1))));
  for (const item of many.slice(0, 10)) await inTurn.commit(commitOf(item, 1));
  // A transaction writes each page that it changed once.
  expect((await sizeOf(`${path}-wal`)) - start).toBeLessThan((await sizeOf(`${folder}/in-turn.db-wal`)) - start);

  const unstorable = commitOf(of('broken'), 1, { state: Symbol('no text') as never });
  const outcomes = await Promise.allSettled(
    [commitOf(of('a'), 1), unstorable, commitOf(of('b'), 1), commitOf(of('c'), 5)].map((commit) =>
      together.commit(commit),
    ),
  );
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'stored'))).toEqual([
    'stored',
    'store-error',
    'stored',
    'session-conflict',
  ]);
  expect(await together.read('broken')).toBeUndefined();
  expect(await together.read('b')).toMatchObject({ revision: 1 });
  await together.close();
  await inTurn.close();
});

test('a session that is alone at work is written at once; several share a transaction, and each takes its turn', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf(session, 1));
  const other = new DatabaseSync(path);
  const count = other.prepare('select count(*) as commits from commits');
  const atOnce = store.commit(commitOf(session, 2));
  expect(count.get()).toEqual({ commits: 2 });
  const shared = [store.commit(commitOf(of('two'), 1)), store.commit(commitOf(session, 3))];
  expect(count.get()).toEqual({ commits: 2 });
  await Promise.all([atOnce, ...shared]);
  expect(count.get()).toEqual({ commits: 4 });
  const next = store.commit(commitOf(session, 4));
  expect(count.get()).toEqual({ commits: 4 });
  await next;
  other.close();
  expect(await store.read('one')).toMatchObject({ revision: 4 });
  await store.close();
});

test('1,000 rounds take less than three times the size of their messages, and the log stays short', async () => {
  const store = sqliteStore(path);
  const filler = (length: number): string => 'lorem ipsum '.repeat(length / 12 + 1).slice(0, length);
  let said = 0;
  let longest = 0;
  for (let round = 0; round < 1000; round++) {
    for (const [step, length] of [250, 1050].entries()) {
      const messages = [JSON.stringify({ role: 'assistant', content: filler(length) })];
      said += messages[0]?.length ?? 0;
      const state = filler(450);
      await store.commit(commitOf(session, round * 2 + step + 1, { messages, state, isWhole: round % 20 === 0 }));
    }
    if (round % 10 === 0) longest = Math.max(longest, await sizeOf(`${path}-wal`));
  }
  const size = (await sizeOf(path)) + (await sizeOf(`${path}-wal`));
  expect(size / said).toBeLessThan(3);
  expect(longest).toBeLessThan(800_000);
  await store.close();
  expect(await sizeOf(`${path}-wal`)).toBe(0);
});

test('what was deleted is no longer in the file', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf(session, 1, { messages: ['"a secret of somebody"'] }));
  await store.commit(commitOf(of('two'), 1, { messages: ['"what stays"'] }));
  await store.delete('one');
  await store.close();
  const text = await readFile(path, 'latin1');
  expect([text.includes('what stays'), text.includes('a secret')]).toEqual([true, false]);
});

test('closing waits for the commits under way; afterwards every call rejects, and another close does nothing', async () => {
  const store = sqliteStore(path);
  const committed = store.commit(commitOf(session, 1));
  await store.close();
  await committed;
  await store.close();
  expect(await rejection(store.read('one'))).toMatchObject({ code: 'store-error' });
  expect((await rejection(store.commit(commitOf(session, 2)))).message).toContain('the store is closed');
  const again = sqliteStore(path);
  expect(await again.read('one')).toMatchObject({ revision: 1 });
  await again.close();
});

test('":memory:" is a store of its own, without a file', async () => {
  const [one, two] = [sqliteStore(':memory:'), sqliteStore(':memory:')];
  await one.commit(commitOf(session, 1));
  expect(await one.read('one')).toMatchObject({ revision: 1 });
  expect(await two.read('one')).toBeUndefined();
  await one.close();
  await two.close();
});

test('a write of somebody else is waited for', async () => {
  const store = sqliteStore(path);
  await store.commit(commitOf(session, 1));
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const committed = store.commit(commitOf(session, 2));
  // Reading needs no lock.
  expect(await store.read('one')).toMatchObject({ revision: 1 });
  other.exec('commit');
  await committed;
  other.close();
  expect(await store.read('one')).toMatchObject({ revision: 2 });
  await store.close();
});
