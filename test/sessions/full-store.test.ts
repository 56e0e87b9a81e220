import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { AgentError } from '../../src/errors.ts';
import type { RunResult, Session } from '../../src/sessions/session.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { violations } from '../../src/messages/violations.ts';
import { modelByHistory } from '../support/models.ts';
import { runFile } from '../support/process.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls, toolOf } from '../support/tools.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-full-'));
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** A store in memory that is full from one commit on, until it has space again. */
const filling = (fullAt: number) => {
  const inner = memoryStore();
  let commits = 0;
  let hasSpace = true;
  const store: SessionStore = {
    ...inner,
    durable: true,
    commit: async (commit) => {
      commits += 1;
      if (commits === fullAt) hasSpace = false;
      if (!hasSpace) throw new AgentError('store-error', 'the disk is full');
      await inner.commit(commit);
    },
  };
  return {
    store,
    commits: () => commits,
    makeSpace: () => {
      hasSpace = true;
    },
  };
};

const makeAgent = (store: SessionStore, paid: string[]) =>
  createAgent({
    store,
    model: modelByHistory([calls(call('look'), call('pay')), calls(call('look')), 'All paid.', 'Again.']),
    tools: [
      toolOf('look', () => 'seen', { annotations: { readOnly: true } }),
      toolOf('pay', (_, { idempotencyKey }) => void paid.push(idempotencyKey), { annotations: { idempotent: true } }),
    ],
  });

const commitsInAll = await (async () => {
  const { store, commits } = filling(0);
  await makeAgent(store, []).run('Pay.');
  return commits();
})();
const everyCommit = Array.from({ length: commitsInAll }, (_, index) => ({ fullAt: index + 1 }));

/** As a program does it that was told of the full disk and is told that there is space again. */
const goOn = async (session: Session): Promise<RunResult> => {
  if (session.status === 'settled' && session.messages.at(-1)?.role !== 'assistant') await session.retry();
  return session.settled();
};

describe('R38: the disk is full at one of the commits', () => {
  test.each(everyCommit)('commit $fullAt: the living session goes on when there is space', async ({ fullAt }) => {
    const { store, makeSpace } = filling(fullAt);
    const paid: string[] = [];
    const agent = makeAgent(store, paid);
    expect(await rejection(agent.run('Pay.', { session: 'one' }))).toMatchObject({ code: 'store-error' });
    const before = await store.read('one');
    expect(before?.revision ?? 0).toBe(fullAt - 1);
    makeSpace();
    const session = await agent.open('one');
    expect((await goOn(session)).outcome).toEqual({ type: 'answered' });
    expect(violations(session.messages)).toEqual([]);
    await agent.close();
    const { messages } = await makeAgent(store, paid).open('one', { readOnly: true });
    expect(messages).toEqual(session.messages);
  });

  test.each(everyCommit)('commit $fullAt: a new opener goes on from what was stored before', async ({ fullAt }) => {
    const { store, makeSpace } = filling(fullAt);
    const paid: string[] = [];
    const first = makeAgent(store, paid);
    await rejection(first.run('Pay.', { session: 'one' }));
    await first.close().catch(() => undefined);
    makeSpace();
    const second = makeAgent(store, paid);
    const session = await second.open('one');
    if (session.status === 'idle') await session.send('Pay.');
    expect((await session.settled()).text).toBe('All paid.');
    expect(violations(session.messages)).toEqual([]);
    expect(session.messages).toHaveLength(6);
    expect(new Set(paid).size).toBe(1);
  });
});

test('R38: a session that cannot be stored is not closed without a word', async () => {
  const { store, makeSpace } = filling(commitsInAll);
  const agent = makeAgent(store, []);
  await rejection(agent.run('Pay.', { session: 'one' }));
  expect(await rejection(agent.close())).toMatchObject({ code: 'store-error' });
  makeSpace();
  const session = await makeAgent(store, []).open('one');
  expect((await session.settled()).text).toBe('All paid.');
});

const script = (name: string): URL => new URL(`./scripts/${name}.ts`, import.meta.url);
const canLimit = await promisify(execFile)('prlimit', ['--version']).then(
  () => true,
  () => false,
);

test.skipIf(!canLimit)(
  'R38: a really full disk is a typed error, and with space the same session goes on',
  async () => {
    const path = join(folder, 'sessions.db');
    const command = 'ulimit -S -f 400; exec "$0" --disable-warning=ExperimentalWarning "$1" "$2"';
    const args = ['-c', command, process.execPath, script('agent-on-full-disk').pathname, path];
    const { stdout } = await promisify(execFile)('sh', args, { env: { ...process.env, NODE_OPTIONS: '' } });
    const { turns, code, message, stored, shown, text, after } = JSON.parse(stdout) as Record<string, unknown>;
    expect(code).toBe('store-error');
    expect(message).toMatch(/SQLite file ".*sessions\.db": .*(full|disk I\/O)/);
    expect(turns).toBeGreaterThan(0);
    expect(stored).toBeGreaterThanOrEqual(4 * Number(turns));
    expect(shown).toEqual([]);
    expect(text).toBe('Seen.');
    const store = sqliteStore(path);
    const { messages } = await makeAgent(store, []).open('full', { readOnly: true });
    expect(messages).toHaveLength(Number(after));
    expect(violations(messages)).toEqual([]);
    await store.close();
  },
);

test.skipIf(process.platform === 'win32')(
  'R38: a file that may only be read is a typed error, and who may write goes on',
  async () => {
    const path = join(folder, 'sessions.db');
    const store = sqliteStore(path);
    const first = makeAgent(store, []);
    await first.run('Pay.', { session: 'kept' });
    await first.close();
    await store.close();
    await chmod(path, 0o444);
    await chmod(folder, 0o777);
    expect(await runFile(script('agent-on-read-only-file'), [path])).toEqual({
      code: 'store-error',
      message: `SQLite file "${path}": attempt to write a readonly database`,
      looked: 6,
    });
    await chmod(path, 0o644);
    const again = sqliteStore(path);
    const { text } = await makeAgent(again, []).run('More.', { session: 'kept' });
    expect(text).toBe('Again.');
    await again.close();
  },
);
