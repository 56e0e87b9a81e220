import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../src/messages/message.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { type Done, fixtureTools } from '../fixtures/sessions/fixture-agent.ts';
import { modelByHistory } from '../support/models.ts';
import { call, calls } from '../support/tools.ts';

// A version of before wrote it: `answered` is at rest, `waiting` waits with an approval in its inbox, `busy` was killed in its second call.
const written = join(import.meta.dirname, '../fixtures/stores/schema-3.db');

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-older-'));
  path = join(folder, 'sessions.db');
  await copyFile(written, path);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const rolesOf = async (store: SessionStore, id: string, at?: number): Promise<string[] | undefined> => {
  const stored = await store.read(id, at === undefined ? {} : { at });
  return stored?.messages.map((text) => (JSON.parse(text) as Message).role);
};
const firstRound = ['user', 'assistant', 'tool'];

test('a file of schema 3 has all that was in it, as it is and as it was', async () => {
  const store = sqliteStore(path);
  expect((await store.list()).map(({ sessionId, status, messages }) => [sessionId, status, messages])).toEqual([
    ['busy', 'busy', 3],
    ['waiting', 'waiting', 3],
    ['answered', 'settled', 4],
  ]);
  expect(await rolesOf(store, 'answered')).toEqual([...firstRound, 'assistant']);
  expect(await rolesOf(store, 'answered', 2)).toEqual(['user']);
  expect((await store.history('busy')).map(({ to }) => to)).toEqual([
    'thinking.asking',
    'acting',
    'observing.counting',
    'thinking.asking',
    'acting',
  ]);
  expect(await store.inbox('waiting')).toMatchObject([{ event: { type: 'approval.granted', by: 'ann' } }]);
  await store.close();
});

test('sessions of a file of schema 3 go on, and their messages stay in order', async () => {
  const done: Done = [];
  const store = sqliteStore(path);
  const agentOf = (second: Parameters<typeof calls>[0]) =>
    createAgent({
      name: 'clerk',
      store,
      tools: fixtureTools(done),
      model: modelByHistory([calls(call('look_up', { name: 'x' })), calls(second), 'That is all.']),
    });
  const waiting = await agentOf(call('pay', { to: 'Ann', amount: 5 })).open('waiting');
  await waiting.settled();
  const busy = await agentOf(call('slow', { job: 'sort' })).open('busy');
  await busy.settled();
  expect(done).toEqual(['pay 5 EUR to Ann', 'slow sort']);
  await store.close();

  const file = new DatabaseSync(path);
  expect(file.prepare('pragma page_size').get()).toEqual({ page_size: 4096 });
  file.close();
  const again = sqliteStore(path);
  for (const id of ['waiting', 'busy']) {
    expect(await rolesOf(again, id)).toEqual([...firstRound, 'assistant', 'tool', 'assistant']);
    expect(await rolesOf(again, id, 4)).toEqual(firstRound);
    const stored = await again.read(id);
    expect(JSON.parse(stored?.messages[5] ?? '')).toMatchObject({ content: [{ text: 'That is all.' }] });
  }
  await again.close();
});

test('what is deleted from a file of schema 3 is no longer in it', async () => {
  const store = sqliteStore(path);
  expect(await store.delete('answered')).toBe(true);
  await store.close();
  const file = new DatabaseSync(path);
  const texts = file.prepare('select json from messages_apart').all();
  file.close();
  expect(texts).toHaveLength(6);
  expect(JSON.stringify(texts)).not.toContain('Where does Ann live?');
});

test('a process of before that has the file open writes nothing more into it', async () => {
  const before = new DatabaseSync(path);
  const insert = before.prepare('insert into messages (id, json) values (?, ?)');
  const store = sqliteStore(path);
  await store.list();
  expect(() => insert.run(1, '{}')).toThrowError('no such table');
  before.close();
  await store.close();
});
