import { describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { rejection, reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });
const ask = outsideTool('ask');
const waitingFor = async (
  onMessage: 'queue' | 'supersede' | 'refuse' | undefined,
  answers: readonly ScriptedAnswer[] = ['one', 'two'],
  round = [call('gate'), call('ask')],
) => {
  const model = scriptedModel([calls(...round), ...answers]);
  const approvals = onMessage === undefined ? {} : { onMessage };
  const agent = createAgent({ model, tools: [gate, ask, F1], approvals });
  const session = await agent.open();
  void session.send('go');
  await session.settled();
  return { model, agent, session };
};
const users = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('user'));

describe('R33: a message while somebody is waited for', () => {
  test.each([undefined, 'queue'] as const)(
    '%s: it is read after the round and before the next model call, in the same turn',
    async (mode) => {
      const { session, model } = await waitingFor(mode);
      const fates = Promise.all([session.send('first'), session.send('second')]);
      expect(session.pending).toHaveLength(1);
      await session.approve('call_1_0');
      await session.settled();
      await session.respond('call_1_1', 'yes');
      expect(await fates).toEqual([{ type: 'delivered' }, { type: 'delivered' }]);
      const result = await session.settled();
      expect(transcript(result.messages)).toEqual([
        'user: go',
        'assistant: gate{} | ask{}',
        'tool: gate ran | yes',
        'user: first',
        'user: second',
        'assistant: one',
      ]);
      expect(model.requests).toHaveLength(2);
      expectWhole(session.messages);
    },
  );

  test('queue: it waits over a save and a load', async () => {
    const { session, agent } = await waitingFor('queue');
    void session.send('first');
    const later = reopened(agent, reopened(agent, session));
    await later.reject('call_1_0');
    await later.settled();
    await later.respond('call_1_1', 'yes');
    await later.settled();
    expect(users(transcript(later.messages))).toEqual(['user: go', 'user: first']);
    expectWhole(later.messages);
  });

  test('queue: a call that ends the turn ends it; the message begins the next one', async () => {
    const ending = toolOf('ending', (_, ctx) => ctx.endTurn(), { needsApproval: true });
    const model = scriptedModel([calls(call('ending')), 'two']);
    const session = await createAgent({ model, tools: [ending] }).open();
    void session.send('go');
    await session.settled();
    const fate = session.send('more');
    await session.approve('call_1_0');
    expect(await fate).toEqual({ type: 'delivered' });
    expect((await resting(session)).text).toBe('two');
    expect(session.actor.getSnapshot().context.turn.number).toBe(2);
    expectWhole(session.messages);
  });

  test('supersede: what needs approval is rejected, what needs a result is cancelled, what is done stays', async () => {
    const { session } = await waitingFor('supersede', ['one'], [call('gate'), call('ask'), call('F1')]);
    expect(await session.send('do Y')).toEqual({ type: 'delivered' });
    const result = await session.settled();
    expect(results(result.messages)).toEqual([
      'Tool call invocation rejected. superseded by a new message',
      expect.stringMatching(/cancelled|stopped/),
      'Result 1',
    ]);
    expect(transcript(result.messages).slice(3)).toEqual(['user: do Y', 'assistant: one']);
    expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'call-settled' });
    expectWhole(session.messages);
  });

  test('supersede: a second message while the first is being answered queues as ever', async () => {
    const { session } = await waitingFor('supersede');
    const fates = [session.send('do Y'), session.send('and Z')];
    expect(await Promise.all(fates)).toEqual([{ type: 'delivered' }, { type: 'delivered' }]);
    await resting(session);
    expect(users(transcript(session.messages))).toEqual(['user: go', 'user: do Y', 'user: and Z']);
    expectWhole(session.messages);
  });

  test('supersede: a decision that was taken before holds; with others running it waits for them', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'), call('gate'), call('gate', { n: 2 })), 'one']);
    const agent = createAgent({
      model,
      tools: [held.tool, gate],
      approvals: { onMessage: 'supersede', hold: 'gated' },
    });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    await waitFor(session.actor, () => session.pending.length === 2);
    await session.approve('call_1_1');
    const fate = session.send('do Y');
    expect(session.pending).toEqual([]);
    expect(session.status).toBe('busy');
    held.end(0, 'held ran');
    expect(await fate).toEqual({ type: 'delivered' });
    const result = await session.settled();
    expect(results(result.messages)).toEqual(['held ran', 'gate ran', expect.stringContaining('superseded')]);
    expectWhole(session.messages);
  });

  test('refuse: the sender is told, the session is as it was; nothing pending, nothing refused', async () => {
    const { session, agent } = await waitingFor('refuse');
    const before = saved(session);
    const reason = 'an approval is pending';
    expect(await session.send('hello?')).toEqual({ type: 'refused', reason });
    expect(await session.send('hello?', { mode: 'steer' })).toEqual({ type: 'refused', reason });
    expect(await rejection(agent.run('hello?', { session }))).toMatchObject({ code: 'session-busy' });
    expect(saved(session)).toEqual(before);
    await session.reject('call_1_0');
    await session.settled();
    await session.respond('call_1_1', 'yes');
    await session.settled();
    expect(await session.send('hello')).toEqual({ type: 'delivered' });
    await resting(session);
    expectWhole(session.messages);
  });
});

inBothModes('R33: a run while somebody is waited for', (run) => {
  test('queue: it comes back at once with what waits; its message stays', async () => {
    const { session, agent } = await waitingFor('queue');
    const { result } = await run(agent, 'more', { session });
    expect(result.outcome).toEqual({ type: 'pending' });
    expect(result.pending.map(({ tool }) => tool)).toEqual(['gate', 'ask'].slice(0, result.pending.length));
    expect(result).toMatchObject({ text: '', messages: [], usage: {}, iterations: 0 });
    await session.reject('call_1_0');
    await session.settled();
    await session.respond('call_1_1', 'yes');
    await session.settled();
    expect(users(transcript(session.messages))).toEqual(['user: go', 'user: more']);
  });

  test('supersede: it is answered', async () => {
    const { session, agent } = await waitingFor('supersede');
    const { result } = await run(agent, 'do Y', { session });
    expect(result.outcome).toEqual({ type: 'answered' });
    expect(result.text).toBe('one');
  });

  test('refuse: it rejects with a typed error', async () => {
    const { session, agent } = await waitingFor('refuse');
    expect(await rejection(run(agent, 'hello?', { session }))).toMatchObject({ code: 'session-busy' });
  });
});

test('R30, R33: a run that waits behind a turn which comes to wait for people comes back with what waits, and nothing of that turn', async () => {
  const held = heldTool('held');
  const gate = toolOf('gate', () => 'through', { needsApproval: true });
  const usage = { totalTokens: 7 };
  const model = scriptedModel([
    { ...calls(call('held')), usage },
    { ...calls(call('gate')), usage },
    { text: 'one', usage },
    { text: 'two', usage },
  ]);
  const agent = createAgent({ model, tools: [held.tool, gate] });
  const first = agent.run('first', { session: 's' });
  await held.whenBegun(1);
  const second = agent.run('second', { session: 's' });
  held.end(0);
  expect(await first).toMatchObject({ outcome: { type: 'pending' }, iterations: 1, usage: { totalTokens: 14 } });
  const { outcome, pending, ...rest } = await second;
  expect([outcome.type, pending.map(({ tool }) => tool)]).toEqual(['pending', ['gate']]);
  expect(rest).toMatchObject({ text: '', messages: [], usage: {}, modelCalls: [], iterations: 0 });
  const session = await agent.open('s');
  await session.approve('call_2_0');
  await waitFor(session.actor, ({ context }) => context.turn.number === 2);
  expect(await session.settled()).toMatchObject({ text: 'two', usage: { totalTokens: 7 } });
});

describe('R34: what becomes of a message', () => {
  const busy = async (answers: readonly ScriptedAnswer[]) => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), ...answers]);
    const agent = createAgent({ model, tools: [held.tool], stopGrace: 0 });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    return { held, model, agent, session };
  };

  test('a run that is aborted while it waits in the queue takes its message back; the turn under way and others go on', async () => {
    const { held, agent, session } = await busy(['one', 'three']);
    const aborting = new AbortController();
    const second = agent.run('second', { session, signal: aborting.signal });
    const third = agent.run('third', { session });
    aborting.abort();
    expect((await second).outcome).toMatchObject({ type: 'stopped', reason: 'aborted' });
    expect(held.begun[0]?.signal.aborted).toBe(false);
    held.end(0);
    expect((await third).text).toBe('three');
    expect(users(transcript(session.messages))).toEqual(['user: go', 'user: third']);
    expectWhole(session.messages);
  });

  test('a stream that is left while its message waits in the queue leaves the turn of another alone', async () => {
    const { held, agent, session } = await busy(['one', 'two']);
    const stream = agent.stream('second', { session });
    const leaving = (async () => {
      for await (const { type } of stream) if (type === 'tool-progress') break;
    })();
    await waitFor(session.actor, ({ context }) => context.inbox.length === 1);
    held.begun[0]?.progress('half');
    await leaving;
    expect((await stream.result).outcome).toEqual({ type: 'stopped', reason: 'the reader left' });
    expect(session.status).toBe('busy');
    expect(held.begun[0]?.signal.aborted).toBe(false);
    held.end(0);
    await resting(session);
    expect(transcript(session.messages)).toEqual(['user: go', 'assistant: held{}', 'tool: done', 'assistant: one']);
    expectWhole(session.messages);
  });

  test('an abort before the run begins asks nobody', async () => {
    const model = scriptedModel(['never']);
    const agent = createAgent({ model });
    const { outcome, sessionId } = await agent.run('go', { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ type: 'stopped' });
    expect(model.requests).toHaveLength(0);
    expectWhole((await agent.open(sessionId)).messages);
  });

  test('an abort after the run is over does nothing', async () => {
    const aborting = new AbortController();
    const agent = createAgent({ model: scriptedModel(['one', 'two']) });
    const { sessionId } = await agent.run('go', { signal: aborting.signal });
    aborting.abort();
    const session = await agent.open(sessionId);
    expect((await session.settled()).outcome).toEqual({ type: 'answered' });
    expect((await agent.run('more', { session })).text).toBe('two');
  });

  test('`message.withdraw` of a message that was read, or that nobody sent, changes nothing', async () => {
    const { held, session } = await busy(['one']);
    const before = saved(session);
    session.actor.send({ type: 'message.withdraw', id: 'nobody' });
    expect(saved(session)).toEqual(before);
    held.end(0);
    await resting(session);
    session.actor.send({ type: 'message.withdraw', id: 'input' });
    expect(transcript(session.messages)).toHaveLength(4);
  });

  test('each message has exactly one fate, and the events tell it by the message’s id', async () => {
    const { held, session } = await busy(['one', 'two', 'three']);
    const fates: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of session.events()) if (event.type === 'message-fate') fates.push(event);
    })();
    for (const id of ['a', 'b', 'c', 'd']) {
      session.actor.send({ type: 'user.message', id, content: id, mode: id === 'b' ? 'steer' : 'queue' });
    }
    session.actor.send({ type: 'message.withdraw', id: 'c', reason: 'changed my mind' });
    held.end(0);
    await resting(session);
    await session[Symbol.asyncDispose]();
    await reading;
    expect(fates).toEqual([
      { type: 'message-fate', messageId: 'c', fate: { type: 'discarded', reason: 'changed my mind' } },
      { type: 'message-fate', messageId: 'b', fate: { type: 'delivered' }, turn: 1 },
      { type: 'message-fate', messageId: 'a', fate: { type: 'delivered' }, turn: 2 },
      { type: 'message-fate', messageId: 'd', fate: { type: 'delivered' }, turn: 3 },
    ]);
  });

  test('a stop discards what is queued; those who sent it are told', async () => {
    const { session, agent } = await busy([]);
    const fate = session.send('second');
    const running = agent.run('third', { session });
    await session.stop('enough');
    expect(await fate).toMatchObject({ type: 'discarded' });
    expect((await running).outcome).toMatchObject({ type: 'stopped' });
    expect(users(transcript(session.messages))).toEqual(['user: go']);
    expectWhole(session.messages);
  });

  test('where the session is closed those who wait are told', async () => {
    const { session, agent } = await busy([]);
    const fate = session.send('second');
    const running = agent.run('third', { session });
    await session[Symbol.asyncDispose]();
    expect(await rejection(fate)).toMatchObject({ code: 'session-closed' });
    expect(await rejection(running)).toMatchObject({ code: 'session-closed' });
  });
});
