import { describe, expect, test } from 'vitest';
import type { Fate } from '../../src/machines/chart-event.ts';
import type { Message } from '../../src/messages/message.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });

/** A session in which one call of the tool `held` is running. */
const acting = async (answers: Parameters<typeof scriptedModel>[0], extra: Parameters<typeof toolOf>[2] = {}) => {
  const held = heldTool('held', extra);
  const model = scriptedModel([calls(call('held')), ...answers]);
  const agent = createAgent({ model, tools: [held.tool], stopGrace: 0 });
  const session = await agent.open();
  const first = session.send('hello');
  await held.whenBegun(1);
  expect(await first).toEqual({ type: 'delivered' });
  return { held, model, agent, session };
};

describe('messages while a turn runs (R34)', () => {
  test('R34: `queue` starts the next turn, and the sender learns when', async () => {
    const { held, model, session } = await acting(['one', 'two']);
    const fates: Fate[] = [];
    const sent = session.send('later').then((fate) => fates.push(fate));
    expect(session.actor.getSnapshot().context.inbox).toHaveLength(1);
    expect(fates).toEqual([]);
    held.end(0);
    await sent;
    expect(fates).toEqual([{ type: 'delivered' }]);
    expect((await session.settled()).text).toBe('two');
    expect(transcript(session.messages)).toEqual([
      'user: hello',
      'assistant: held{}',
      'tool: done',
      'assistant: one',
      'user: later',
      'assistant: two',
    ]);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R34/M50: `steer` is read before the next model call of this turn, never between a call and its result', async () => {
    const { held, model, session } = await acting(['one']);
    const sent = session.send('Hurry.', { mode: 'steer' });
    held.end(0);
    expect(await sent).toEqual({ type: 'delivered' });
    const result = await session.settled();
    expect(transcript(result.messages)).toEqual([
      'user: hello',
      'assistant: held{}',
      'tool: done',
      'user: Hurry.',
      'assistant: one',
    ]);
    expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe('user: Hurry.');
    model.assertFinished();
  });

  test('R34/M50: steering that comes while the model gives its answer begins the next turn', async () => {
    const reply = Promise.withResolvers<string>();
    const asked = Promise.withResolvers<void>();
    const model = scriptedModel([
      () => {
        asked.resolve();
        return reply.promise;
      },
      'two',
    ]);
    const session = await createAgent({ model }).open();
    void session.send('hello');
    await asked.promise;
    const sent = session.send('Hurry.', { mode: 'steer' });
    reply.resolve('one');
    expect(await sent).toEqual({ type: 'delivered' });
    expect((await session.settled()).text).toBe('two');
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: one', 'user: Hurry.', 'assistant: two']);
    model.assertFinished();
  });

  test('R34: messages keep their order, and each has one turn of its own', async () => {
    const { held, model, session } = await acting(['0', '1', '2', '3']);
    const sent = ['a', 'b', 'c'].map((text) => session.send(text));
    held.end(0);
    expect(await Promise.all(sent)).toEqual([{ type: 'delivered' }, { type: 'delivered' }, { type: 'delivered' }]);
    await session.settled();
    expect(transcript(session.messages).slice(4)).toEqual([
      'user: a',
      'assistant: 1',
      'user: b',
      'assistant: 2',
      'user: c',
      'assistant: 3',
    ]);
    model.assertFinished();
  });

  test('R34: the queue survives a save and a load', async () => {
    const { held, agent, session, model } = await acting(['one', 'two'], { annotations: { readOnly: true } });
    void session.send('later').catch(() => undefined);
    const restored = agent.restore(session.toJSON());
    await session[Symbol.asyncDispose]();
    await held.whenBegun(2);
    held.end(1);
    await resting(restored);
    expect(transcript(restored.messages).slice(-2)).toEqual(['user: later', 'assistant: two']);
    model.assertFinished();
  });

  test('R34, R35: a stop discards what is queued, with a reason; a run that waited for it is told', async () => {
    const { agent, session } = await acting([]);
    const sent = session.send('later');
    const run = agent.run('even later', { session });
    await session.stop('enough');
    expect(await sent).toMatchObject({ type: 'discarded', reason: expect.any(String) });
    expect((await run).outcome.type).toBe('stopped');
    expect(session.actor.getSnapshot().context.inbox).toEqual([]);
  });

  test('R34: a run that is aborted while it waits in the queue takes its message back and leaves the turn alone', async () => {
    const { held, agent, session, model } = await acting(['one']);
    const abort = new AbortController();
    const run = agent.run('later', { session, signal: abort.signal });
    await Promise.resolve();
    abort.abort();
    held.end(0);
    expect((await session.settled()).text).toBe('one');
    expect((await run).outcome.type).toBe('stopped');
    expect(transcript(session.messages)).not.toContain('user: later');
    model.assertFinished();
  });

  test('R34: what waits behind a turn that failed stays; its caller is told; `retry` goes on, then it is read', async () => {
    const failing = Promise.withResolvers<string>();
    const model = scriptedModel([() => failing.promise, 'one', 'two']);
    const agent = createAgent({ model });
    const session = await agent.open();
    const first = agent.run('hello', { session });
    const second = agent.run('later', { session });
    const both = Promise.allSettled([first, second]);
    failing.reject(new Error('Oh no!'));
    for (const { status } of await both) expect(status).toBe('rejected');
    expect(session.actor.getSnapshot().context.inbox).toHaveLength(1);
    await session.retry();
    await resting(session);
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: one', 'user: later', 'assistant: two']);
    model.assertFinished();
  });

  test('R34: after a turn that failed a new message begins the next turn', async () => {
    const model = scriptedModel([new Error('Oh no!'), 'two']);
    const agent = createAgent({ model });
    const session = await agent.open();
    await expect(agent.run('hello', { session })).rejects.toMatchObject({ code: 'model-error' });
    expect((await agent.run('more', { session })).text).toBe('two');
    expect(transcript(session.messages)).toEqual(['user: hello', 'user: more', 'assistant: two']);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R6, R34: messages of other roles that steer a turn leave a whole history', async () => {
    const { held, session } = await acting(['one']);
    const odd: Message[] = [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'F1', input: {} }] },
      { role: 'user', content: 'and?' },
    ];
    void session.send(odd, { mode: 'steer' });
    held.end(0);
    await session.settled();
    expectWhole(session.messages);
  });

  test('R6: a conversation with open calls that is given with the first message is whole', async () => {
    const model = scriptedModel(['one']);
    const agent = createAgent({ model });
    const result = await agent.run([
      { role: 'user', content: 'before' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'F1', input: {} }] },
      { role: 'user', content: 'hello' },
    ]);
    expectWhole(result.messages);
    expect(results(result.messages)[0]).toContain('interrupted');
  });

  test('R34: nothing empty is taken', async () => {
    const session = await createAgent({ model: scriptedModel([]) }).open();
    for (const empty of ['', [], { role: 'user' as const, content: '' }]) {
      await expect(session.send(empty)).rejects.toMatchObject({ code: 'invalid-message' });
    }
    expect(session.status).toBe('idle');
  });
});

inBothModes('a message while a decision is pending (R33)', (run) => {
  const pending = async (
    onMessage: 'queue' | 'supersede' | 'refuse' | undefined,
    more: Parameters<typeof scriptedModel>[0],
  ) => {
    const model = scriptedModel([calls(call('gated'), call('outside')), ...more]);
    const agent: Agent = createAgent({
      model,
      tools: [gated, outsideTool('outside')],
      ...(onMessage === undefined ? {} : { approvals: { onMessage, hold: 'gated' } }),
    });
    const { session } = await run(agent, 'hello');
    return { model, agent, session };
  };

  test.each([undefined, 'queue'] as const)(
    'R33: %s: it is read after the round, before the next model call',
    async (onMessage) => {
      const { session, model, agent } = await pending(onMessage, ['one']);
      const told = await agent.run('more', { session });
      expect(told.outcome.type).toBe('pending');
      await session.approve('call_1_0');
      await session.respond('call_1_1', 'by hand');
      const result = await session.settled();
      expect(transcript(result.messages)).toEqual([
        'user: hello',
        'assistant: gated{} | outside{}',
        'tool: gated ran | by hand',
        'user: more',
        'assistant: one',
      ]);
      expectWhole(session.messages);
      model.assertFinished();
    },
  );

  test('R33: `supersede`: the pending calls settle with that reason, then it is read', async () => {
    const { session, model } = await pending('supersede', ['one']);
    expect(await session.send('more')).toEqual({ type: 'delivered' });
    const result = await session.settled();
    const [first, second] = results(result.messages);
    expect(first).toBe('Tool call invocation rejected. superseded by a new message');
    expect(second).toContain('cancelled');
    expect(transcript(result.messages).slice(-2)).toEqual(['user: more', 'assistant: one']);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R33: `refuse`: a typed error, and nothing changes', async () => {
    const { session, agent } = await pending('refuse', []);
    const before = session.toJSON();
    expect(await session.send('more')).toEqual({ type: 'refused', reason: 'an approval is pending' });
    await expect(agent.run('more', { session })).rejects.toMatchObject({
      code: 'session-busy',
      message: expect.stringContaining('decide first'),
    });
    expect(session.toJSON()).toEqual(before);
  });
});

inBothModes('tools that the application answers (R13)', (run) => {
  test('R13/L45 (better): the siblings run, the session says what it waits for, `respond` settles it', async () => {
    const model = scriptedModel([calls(call('F1'), call('outside', { q: 1 })), 'world']);
    const { session, result } = await run(createAgent({ model, tools: [F1, outsideTool('outside')] }), 'hello');
    expect(result.pending).toMatchObject([{ callId: 'call_1_1', tool: 'outside', input: { q: 1 }, needs: 'result' }]);
    expect(session.actor.getSnapshot().context.round?.calls[0]?.phase).toBe('settled');
    await session.respond('call_1_1', [1, 2]);
    expect(results((await session.settled()).messages)).toEqual(['Result 1', '[1,2]']);
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R13, R25: one that needs approval is first asked for, then answered', async () => {
    const model = scriptedModel([calls(call('outside')), 'world']);
    const { session, result } = await run(
      createAgent({ model, tools: [outsideTool('outside', { needsApproval: true })] }),
      'hello',
    );
    expect(result.pending).toMatchObject([{ needs: 'approval' }]);
    await session.approve('call_1_0');
    expect(session.pending).toMatchObject([{ needs: 'result' }]);
    // R29: the same decision again.
    await session.approve('call_1_0');
    await expect(session.reject('call_1_0')).rejects.toMatchObject({ code: 'decision-conflict' });
    await session.respond('call_1_0', null);
    expect((await session.settled()).text).toBe('world');
  });

  test('R13: it does not count against `concurrency`', async () => {
    const model = scriptedModel([calls(call('outside'), call('outside', { q: 1 }), call('F1')), 'world']);
    const { session, result } = await run(
      createAgent({ model, tools: [F1, outsideTool('outside')], concurrency: 1 }),
      'hello',
    );
    expect(result.pending).toHaveLength(2);
    expect(session.actor.getSnapshot().context.round?.calls[2]?.phase).toBe('settled');
  });
});
