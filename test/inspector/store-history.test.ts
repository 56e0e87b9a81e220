import { expect, test } from 'vitest';
import { createAgent, memoryStore } from '../../src/index.ts';
import { agentsOf } from '../../src/inspector/actor-tree.ts';
import { approvalsOf } from '../../src/inspector/approvals.ts';
import { conversationOf } from '../../src/inspector/conversation.ts';
import type { StoredHistory } from '../../src/inspector/history-source.ts';
import { storeHistory } from '../../src/inspector/store-history.ts';
import { entryOf } from '../../src/inspector/timeline.ts';
import { emptyView, reduceView } from '../../src/inspector/view-state.ts';
import { lookInto } from '../../src/sessions/look-into.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

/** A session that waits for an approval, left by an agent that is gone. */
const leftBehind = async () => {
  const store = memoryStore();
  const tools = [toolOf('look', () => 'seen'), toolOf('pay', () => 'paid', { needsApproval: true })];
  const make = (answers: Parameters<typeof scriptedModel>[0]) =>
    createAgent({ name: 'clerk', model: scriptedModel(answers), tools, store });
  const first = make([calls(call('look')), calls(call('pay', { sum: 3 }))]);
  await first.run('Look, then pay.', { session: 'kept' });
  await first.close();
  return { store, agent: make(['Paid.']) };
};

const shownFrom = (history: StoredHistory | undefined, id = 'kept') => {
  let view = emptyView;
  const moves: string[] = [];
  for (const event of history?.events ?? []) {
    view = reduceView(view, event);
    const entry = entryOf(view, event);
    if (entry?.kind === 'step' && entry.actor === `${id}:root`) moves.push(entry.to);
  }
  const session = view.sessions[id];
  const root = session === undefined ? undefined : agentsOf(session)[0];
  if (session === undefined || root === undefined) throw new Error('the session is not shown');
  return { view, moves, session, root };
};

test('a session of a store is shown with its past, its messages and what waits, without being opened', async () => {
  const { store, agent } = await leftBehind();
  const history = storeHistory(store, [agent]);
  expect(await history.list()).toMatchObject([{ id: 'kept', agent: 'clerk', status: 'waiting', pending: 1 }]);
  const { view, moves, session, root } = shownFrom(await history.history('kept'));
  expect(moves).toEqual([
    'thinking.asking',
    'acting',
    'observing.counting',
    'thinking.asking',
    'acting',
    'awaiting-approval',
  ]);
  expect(approvalsOf(view, session)).toMatchObject([{ tool: 'pay', input: { sum: 3 } }]);
  expect(conversationOf(session, root).map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
  expect((await store.read('kept'))?.summary.status).toBe('waiting');
});

test('without its agent there are its transitions and its messages', async () => {
  const { store } = await leftBehind();
  const { moves, session, root, view } = shownFrom(await storeHistory(store, []).history('kept'));
  expect(moves).toContain('observing.counting');
  expect(conversationOf(session, root).map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(view.charts['agent']?.nodes.map(({ id }) => id)).toContain('agent.thinking.asking');
});

test('a store alone shows all that an agent would show, also of agents inside of calls', async () => {
  const { store, agent } = await leftBehind();
  const alone = shownFrom(await storeHistory(store, [], lookInto(store)).history('kept'));
  const known = shownFrom(await storeHistory(store, [agent]).history('kept'));
  expect(alone.moves).toEqual(known.moves);
  // Agents tell their tools and limits before: one event more.
  const unnumbered = JSON.stringify(known.session.actors).replaceAll(/"seq":\d+/g, '"seq":0');
  expect(JSON.stringify(alone.session.actors).replaceAll(/"seq":\d+/g, '"seq":0')).toBe(unnumbered);
  expect(approvalsOf(alone.view, alone.session)).toMatchObject([{ tool: 'pay', input: { sum: 3 } }]);

  const asked = createAgent({
    name: 'asker',
    model: scriptedModel([calls(call('pay', { sum: 5 }))]),
    tools: [toolOf('pay', () => 'paid', { needsApproval: true })],
  });
  const outer = createAgent({
    name: 'outer',
    model: scriptedModel([calls(call('helper', { prompt: 'Pay.' }))]),
    tools: [asked.asTool({ name: 'helper', description: 'helps' })],
    store,
  });
  await outer.run('Let it be paid.', { session: 'nested' });
  await outer.close();
  const nested = shownFrom(await storeHistory(store, [], lookInto(store)).history('nested'), 'nested');
  expect(approvalsOf(nested.view, nested.session)).toMatchObject([{ tool: 'pay', input: { sum: 5 } }]);
});

test('asked again a history grows by what is new; a session that was made anew is told anew', async () => {
  const { store, agent } = await leftBehind();
  const source = storeHistory(store, [], lookInto(store));
  const first = await source.history('kept');
  const before = first?.events.length ?? 0;
  expect((await source.history('kept'))?.events.length).toBe(before);
  const session = await agent.open('kept');
  await session.approve(session.pending[0]?.callId ?? '');
  await session.settled();
  await agent.close();
  const second = await source.history('kept');
  expect(second?.run).toBe(first?.run);
  expect(second?.events.length).toBeGreaterThan(before);
  expect(second?.events.map(({ seq }) => seq)).toEqual(second?.events.map((_, index) => index + 1));
  const fresh = await storeHistory(store, [], lookInto(store)).history('kept');
  expect(shownFrom(second).session.actors).toEqual(shownFrom(fresh).session.actors);
  expect(shownFrom(second).moves).toEqual(shownFrom(fresh).moves);

  await store.delete('kept');
  expect(await source.history('kept')).toBe(undefined);
});

test('of a long session no more is read than can be told at once, and every transition is there', async () => {
  const store = sqliteStore(':memory:');
  const look = toolOf('look', () => 'x'.repeat(20_000));
  const model = scriptedModel([...Array.from({ length: 60 }, () => calls(call('look'))), 'Seen.']);
  const agent = createAgent({ name: 'looker', model, tools: [look], store, limits: { maxIterations: 100 } });
  await agent.run('Look.', { session: 'long' });
  await agent.close();
  let looks = 0;
  const lookAt = lookInto(store);
  const source = storeHistory(store, [], (id, at) => {
    looks += 1;
    return lookAt(id, at);
  });
  const { moves, session, root } = shownFrom(await source.history('long'), 'long');
  expect(moves.filter((move) => move === 'acting')).toHaveLength(60);
  expect(looks).toBeLessThan((await store.list())[0]?.revision ?? 0);
  expect(conversationOf(session, root).at(-1)?.parts).toEqual([{ type: 'text', text: 'Seen.' }]);
});

test('there is no past of a session that nobody knows', async () => {
  expect(await storeHistory(memoryStore(), []).history('unknown')).toBe(undefined);
});
