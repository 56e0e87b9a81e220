import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { RunResult, Session } from '../../src/sessions/session.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore, SessionSummary } from '../../src/stores/store.ts';
import { violations } from '../../src/messages/violations.ts';
import { modelByHistory } from '../support/models.ts';
import { rejection } from '../support/sessions.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

/** A run with two turns, approvals, an edit, a rejection and an answer from outside; how it looked after every commit. */
const past = await (async () => {
  const store: SessionStore = { ...memoryStore(), durable: true };
  const shown: (Pick<Session, 'status' | 'pending' | 'messages'> & { summary: SessionSummary })[] = [];
  const make = (kept: SessionStore) =>
    createAgent({
      store: kept,
      model: modelByHistory([
        calls(call('pay', { to: 'Mei' }), call('pay', { to: 'Jo' }), call('look'), call('form')),
        'All decided.',
        calls(call('look')),
        'Looked.',
      ]),
      tools: [
        toolOf('pay', ({ to }) => `paid ${String(to)}`, { needsApproval: true, annotations: { idempotent: true } }),
        toolOf('look', () => 'seen', { annotations: { readOnly: true } }),
        outsideTool('form'),
      ],
    });
  const seen: { session?: Session } = {};
  const agent = make({
    ...store,
    commit: async (commit) => {
      const { session } = seen;
      // The journal looks at the session and hands over what it saw in one go.
      if (session !== undefined) {
        const { status, pending, messages } = session;
        shown.push({ status, pending, messages: structuredClone(messages), summary: commit.summary });
      }
      await store.commit(commit);
    },
  });
  const session = await agent.open('past');
  seen.session = session;
  await session.send('Pay both.');
  await session.settled();
  await session.approve('call_1_0', { input: { to: 'Ann' }, by: 'boss' });
  await session.reject('call_1_1', { reason: 'too much' });
  await session.respond('call_1_3', { filled: true });
  await session.settled();
  await session.send('Look again.');
  await session.settled();
  await agent.close();
  return { store, shown, agent: make(store), end: session.messages };
})();

const revisions = past.shown.map((look) => ({ at: look.summary.revision, look }));

const decideAll = async (session: Session): Promise<RunResult> => {
  const result = await session.settled();
  if (result.pending.length === 0) return result;
  for (const { callId, needs } of result.pending) {
    if (needs === 'result') await session.respond(callId, 'later');
    else await session.approve(callId);
  }
  return decideAll(session);
};

describe('a session as it was', () => {
  test('the run has revisions in which something waits, works and rests', () => {
    const statuses = new Set(past.shown.map(({ status }) => status));
    expect([...statuses].toSorted()).toEqual(['busy', 'settled', 'waiting']);
    expect(revisions.map(({ at }) => at)).toEqual(revisions.map((_, index) => index + 1));
    expect(new Set(past.shown.map(({ pending }) => pending.length))).toEqual(new Set([0, 1, 2]));
  });

  test.each(revisions)('revision $at shows what was there then, and cannot be changed', async ({ at, look }) => {
    const { agent, store } = past;
    const session = await agent.open('past', { at });
    expect({ status: session.status, pending: session.pending, messages: session.messages }).toEqual({
      status: look.status,
      pending: look.pending,
      messages: look.messages,
    });
    const [first] = session.pending;
    const callId = first?.callId ?? 'call_1_0';
    const changes: (() => Promise<unknown>)[] = [
      () => session.send('More.'),
      () => session.approve(callId),
      () => session.reject(callId),
      () => session.respond(callId, 1),
      () => session.cancel(callId),
      () => session.stop(),
      () => session.retry(),
    ];
    for (const change of changes) expect(await rejection(change())).toMatchObject({ code: 'read-only' });
    session.actor.send({ type: 'turn.stop' });
    expect(session.pending).toEqual(look.pending);
    expect((await store.read('past'))?.revision).toBe(revisions.length);
  });

  test.each(revisions)('a fork from revision $at goes on to an end; the original stays as it is', async ({ at }) => {
    const { agent, store } = past;
    const before = await store.read('past');
    const original = await agent.open('past', { readOnly: true });
    const fork = await (await agent.open('past', { at })).fork();
    expect((await decideAll(fork)).outcome).toEqual({ type: 'answered' });
    expect(violations(fork.messages)).toEqual([]);
    if (at === revisions.length) expect(fork.messages).toEqual(past.end);
    expect(fork.id).not.toBe('past');
    const living = await agent.open('past');
    const other = await living.fork({ at });
    expect((await decideAll(other)).text).toBe((await fork.settled()).text);
    expect(original.messages).toEqual(past.end);
    expect(living.messages).toEqual(past.end);
    expect(await store.read('past')).toEqual(before);
    const kept = await store.read(fork.id);
    expect(kept?.summary).toMatchObject({ status: 'settled', messages: fork.messages.length });
  });

  test('the history is one way through the chart, each step with its revision', async () => {
    const history = await past.store.history('past');
    expect(history[0]).toMatchObject({ from: 'idle', event: 'user.message', revision: 1 });
    for (const [index, { from }] of history.slice(1).entries()) expect(from).toBe(history[index]?.to);
    expect(history.at(-1)?.to).toBe('done.answered');
    const inOrder = history.map(({ revision }) => revision);
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
    expect(history.map(({ to }) => to)).toContain('awaiting-approval');
  });

  test('a revision or a session that is not there is a typed error', async () => {
    const { agent } = past;
    const living = await agent.open('past');
    const at = revisions.length + 1;
    const unknown = {
      code: 'unknown-revision',
      message: `session "past" has no revision ${at}; its revisions are 1 to ${revisions.length}`,
    };
    expect(await rejection(agent.open('past', { at }))).toMatchObject(unknown);
    expect(await rejection(living.fork({ at }))).toMatchObject(unknown);
    for (const wrong of [0, -1, 1.5, NaN]) {
      expect(await rejection(agent.open('past', { at: wrong }))).toMatchObject({ code: 'invalid-option' });
      expect(await rejection(living.fork({ at: wrong }))).toMatchObject({ code: 'unknown-revision' });
    }
    expect(await rejection(agent.open('future', { at: 1 }))).toMatchObject({ code: 'unknown-session' });
    expect(await rejection(agent.open('future', { readOnly: true }))).toMatchObject({ code: 'unknown-session' });
  });
});
