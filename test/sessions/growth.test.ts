import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { Commit, SessionStore } from '../../src/stores/store.ts';
import type { Message } from '../../src/messages/message.ts';
import { forgetfulModel } from '../support/models.ts';
import { runFile } from '../support/process.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const rounds = 300;

const sizeOf = ({ state, messages, transitions }: Commit): number =>
  state.length + messages.join('').length + JSON.stringify(transitions).length;

/** Rounds with results of 1 kB; in one turn, or each in its own. */
const grow = async (store: SessionStore, inOneTurn: boolean) => {
  const commits: { round: number; size: number; isWhole: boolean }[] = [];
  const agent = createAgent({
    store: {
      ...store,
      commit: async (commit) => {
        commits.push({
          round: Math.ceil(commit.summary.messages / (inOneTurn ? 2 : 4)),
          size: sizeOf(commit),
          isWhole: commit.isWhole,
        });
        await store.commit(commit);
      },
    },
    model: forgetfulModel(({ messages }) => {
      const done = messages.filter(({ role }) => role === 'tool').length;
      const isOver = inOneTurn ? done === rounds : messages.at(-1)?.role === 'tool';
      return isOver ? 'Done.' : calls(call('look', { at: done }));
    }),
    tools: [toolOf('look', ({ at }) => `${String(at)} ${'y'.repeat(1000)}`, { annotations: { readOnly: true } })],
    limits: { maxIterations: rounds + 1 },
  });
  for (let turn = 0; turn < (inOneTurn ? 1 : rounds); turn++) await agent.run(`Look ${turn}.`, { session: 'one' });
  const { messages } = await agent.open('one');
  await agent.close();
  return { commits, messages };
};

const largest = (commits: readonly { round: number; size: number; isWhole: boolean }[], round: number): number =>
  Math.max(...commits.filter((commit) => commit.round === round && !commit.isWhole).map(({ size }) => size));

const lengthOf = (messages: readonly Message[]): number => JSON.stringify(messages).length;

const expectFlat = ({ commits, messages }: Awaited<ReturnType<typeof grow>>): void => {
  const total = commits.reduce((sum, { size }) => sum + size, 0);
  expect(total / lengthOf(messages)).toBeLessThan(3);
  expect(largest(commits, rounds)).toBeLessThanOrEqual(largest(commits, 10) * 1.05);
};

test('B140: of 300 rounds in one turn a commit is no larger than one of ten, and the SQLite file at most three times the messages', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentchart-growth-'));
  const path = join(folder, 'sessions.db');
  const store = sqliteStore(path);
  const grown = await grow(store, true);
  await store.close();
  expectFlat(grown);
  expect((await stat(path)).size / lengthOf(grown.messages)).toBeLessThan(3);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

test('B140: of 300 turns a commit is no larger than one of ten, and all of them at most three times the messages', async () => {
  expectFlat(await grow({ ...memoryStore(), durable: true }, false));
});

test('a run that is over is gone with the next young objects that are collected', async () => {
  const { left } = await runFile(new URL('scripts/leave-nothing.ts', import.meta.url));
  // A run of three calls makes several hundred kB.
  expect(left).toBeLessThan(30_000);
});
