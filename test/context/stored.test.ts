import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compaction, summarize } from '../../src/compaction/index.ts';
import { type AgentOptions, type HistoryProvider, type Message, createAgent } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';

let folder = '';
let stores: ReturnType<typeof sqliteStore>[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-context-'));
});
afterEach(async () => {
  for (const store of stores) await store.close();
  stores = [];
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** An agent as another process would make it: with connections of its own to the same file. */
const agentOn = (answers: Parameters<typeof scriptedModel>[0], options: Partial<AgentOptions>) => {
  const store = sqliteStore(join(folder, 'sessions.db'));
  stores.push(store);
  const model = scriptedModel(answers);
  return { store, model, agent: createAgent({ model, store, ...options }) };
};

const gated = toolOf('gated', () => 'ran', { needsApproval: true });

test('R48: what a provider has stored is in the store where it was sent, once', async () => {
  const contextProviders = [{ name: 'day', beforeTurn: () => ({ messages: 'Monday', store: true }) }];
  const first = agentOn(['a0', calls(call('gated'))], { contextProviders, tools: [gated] });
  const { sessionId } = await first.agent.run('q0');
  await first.agent.run('q1', { session: sessionId });
  await first.agent.close();
  const second = agentOn(['a1'], { contextProviders, tools: [gated] });
  const session = await second.agent.open(sessionId);
  await session.approve('call_1_0');
  expect((await session.settled()).text).toBe('a1');
  const all = [
    'user: q0',
    'user: Monday',
    'assistant: a0',
    'user: q1',
    'user: Monday',
    'assistant: gated{}',
    'tool: ran',
    'assistant: a1',
  ];
  expect(transcript(session.messages)).toEqual(all);
  const stored = await second.store.read(sessionId);
  expect(transcript((stored?.messages ?? []).map((text): Message => JSON.parse(text)))).toEqual(all);
});

test('R47: with a history provider a store has the last turn alone, and any process goes on from it', async () => {
  const kept: Message[] = [];
  const history: HistoryProvider = {
    load: () => kept,
    append: ({ position, messages }) => void kept.splice(position, Infinity, ...messages),
  };
  const first = agentOn(['a0', 'a1', calls(call('gated'))], { history, tools: [gated] });
  const { sessionId } = await first.agent.run('q0');
  for (const question of ['q1', 'q2']) await first.agent.run(question, { session: sessionId });
  await first.agent.close();

  const second = agentOn(['a2'], { history, tools: [gated] });
  const session = await second.agent.open(sessionId);
  expect(transcript(session.messages)).toEqual(['user: q2']);
  expect(session.pending.map(({ callId }) => callId)).toEqual(['call_1_0']);
  await session.approve('call_1_0');
  expect((await session.settled()).text).toBe('a2');
  expect(transcript(second.model.requests[0]?.messages ?? [])).toEqual(transcript(kept.slice(0, -1)));
  expect(transcript(kept)).toEqual([
    ...['q0', 'a0', 'q1', 'a1', 'q2'].map((text) => `${text.startsWith('q') ? 'user' : 'assistant'}: ${text}`),
    'assistant: gated{}',
    'tool: ran',
    'assistant: a2',
  ]);
  expect((await second.store.read(sessionId))?.messages).toEqual([]);
});

test('R38, R47: providers are told of a turn when it is stored, and not by who has lost the session', async () => {
  const seen: unknown[] = [];
  const { agent, store } = agentOn(['a0'], {
    contextProviders: [
      {
        name: 'audit',
        afterTurn: async ({ sessionId }) => void seen.push((await store.read(sessionId))?.summary.status),
      },
    ],
  });
  await agent.run('q0');
  expect(seen).toEqual(['settled']);

  const told: string[] = [];
  const owner = (name: string, answers: Parameters<typeof scriptedModel>[0]) =>
    agentOn(answers, {
      tools: [gated],
      contextProviders: [{ name, afterTurn: () => void told.push(name) }],
    }).agent;
  const first = owner('first', [calls(call('gated')), 'late']);
  const { sessionId } = await first.run('q0');
  const mine = await first.open(sessionId);
  const theirs = await owner('second', ['a0']).open(sessionId);
  await theirs.approve('call_1_0');
  await theirs.settled();
  await expect(mine.approve('call_1_0').then(() => mine.settled())).rejects.toThrow();
  expect(told).toEqual(['second']);
});

test('R49: a summary is in the store, and is not made again by another process', async () => {
  const notes = scriptedModel(['NOTES']);
  const options = () => ({
    compaction: compaction({ when: { messages: 4 }, strategies: [summarize({ model: notes, keep: { messages: 1 } })] }),
  });
  const first = agentOn(['a0', 'a1', 'a2'], options());
  const { sessionId } = await first.agent.run('q0');
  for (const question of ['q1', 'q2']) await first.agent.run(question, { session: sessionId });
  await first.agent.close();
  const second = agentOn(['a3'], options());
  await second.agent.run('q3', { session: sessionId });
  expect(transcript(second.model.requests[0]?.messages ?? [])).toEqual([
    expect.stringContaining('NOTES'),
    'user: q2',
    'assistant: a2',
    'user: q3',
  ]);
  notes.assertFinished();
  expect((await second.store.read(sessionId))?.messages).toHaveLength(8);
});

test('R48: what a provider does to the messages that it is shown is not said in the session', async () => {
  const meddle = (messages: readonly Message[]): void => {
    for (const message of messages) if (message.role === 'user') message.content = 'changed';
    (messages as Message[]).push({ role: 'user', content: 'added' });
  };
  const rows: Message[] = [];
  const told: unknown[] = [];
  const { agent } = agentOn(['a0', 'a1'], {
    contextProviders: [
      { name: 'before', beforeTurn: ({ messages }) => (meddle(messages), undefined) },
      { name: 'after', afterTurn: ({ result }) => meddle(result.messages) },
      { name: 'last', afterTurn: ({ result }) => void told.push(transcript(result.messages)[0]) },
    ],
    history: {
      load: () => rows,
      append: ({ messages, position }) => {
        rows.splice(position, rows.length, ...structuredClone([...messages]));
        meddle(messages);
      },
    },
  });
  for (const question of ['q0', 'q1']) await agent.run(question, { session: 's' });
  expect(told).toEqual(['user: q0', 'user: q1']);
  expect(transcript(rows)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1']);
  expect(transcript((await agent.open('s')).messages)).toEqual(['user: q1', 'assistant: a1']);
});
