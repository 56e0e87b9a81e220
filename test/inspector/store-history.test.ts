import { expect, test } from 'vitest';
import { createAgent, memoryStore } from '../../src/index.ts';
import { agentsOf } from '../../src/inspector/actor-tree.ts';
import { approvalsOf } from '../../src/inspector/approvals.ts';
import { conversationOf } from '../../src/inspector/conversation.ts';
import { storeHistory } from '../../src/inspector/store-history.ts';
import { entryOf } from '../../src/inspector/timeline.ts';
import { emptyView, reduceView } from '../../src/inspector/view-state.ts';
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

const shownFrom = (events: Awaited<ReturnType<ReturnType<typeof storeHistory>['events']>>) => {
  let view = emptyView;
  const moves: string[] = [];
  for (const event of events ?? []) {
    view = reduceView(view, event);
    const entry = entryOf(view, event);
    if (entry?.kind === 'step' && entry.name === 'clerk') moves.push(entry.to);
  }
  const session = view.sessions['kept'];
  const root = session === undefined ? undefined : agentsOf(session)[0];
  if (session === undefined || root === undefined) throw new Error('the session is not shown');
  return { view, moves, session, root };
};

test('a session of a store is shown with its past, its messages and what waits, without being opened', async () => {
  const { store, agent } = await leftBehind();
  const history = storeHistory(store, [agent]);
  expect(await history.list()).toMatchObject([{ id: 'kept', agent: 'clerk', status: 'waiting', pending: 1 }]);
  const { view, moves, session, root } = shownFrom(await history.events('kept'));
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
  const { moves, session, root, view } = shownFrom(await storeHistory(store, []).events('kept'));
  expect(moves).toContain('observing.counting');
  expect(conversationOf(session, root).map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(view.charts['agent']?.nodes.map(({ id }) => id)).toContain('agent.thinking.asking');
});

test('there is no past of a session that nobody knows', async () => {
  expect(await storeHistory(memoryStore(), []).events('unknown')).toBe(undefined);
});
