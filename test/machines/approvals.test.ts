import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isRemembered } from '../../src/machines/remembered.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { F1, F2, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const gated = (name: string, seen: unknown[] = []) =>
  toolOf(
    name,
    (input) => {
      seen.push(input);
      return `${name} ran`;
    },
    { needsApproval: true },
  );

const sendMoney = (seen: unknown[] = []) =>
  tool({
    name: 'pay',
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: ({ amount }) => {
      seen.push(amount);
      return `paid ${amount}`;
    },
  });

const rejected = 'Tool call invocation rejected.';

inBothModes('approvals', (run) => {
  test('R25/A01: a round whose tools need approval waits, and says what for', async () => {
    const model = scriptedModel([calls(call('a'), call('b', { i: 42 }))]);
    const { result, session, events } = await run(
      createAgent({ model, tools: [gated('a')], extraTools: [gated('b')] }),
      'hello',
    );
    expect(result.outcome).toEqual({ type: 'pending' });
    expect(result.pending).toMatchObject([
      { callId: 'call_1_0', path: [], tool: 'a', input: {}, needs: 'approval' },
      { callId: 'call_1_1', path: [], tool: 'b', input: { i: 42 }, needs: 'approval' },
    ]);
    expect(session.status).toBe('waiting');
    expect(session.actor.getSnapshot().matches('awaiting-approval')).toBe(true);
    expect(transcript(session.messages)).toEqual(['user: hello']);
    if (events.length > 0) {
      expect(events.filter(({ type }) => type === 'approval-request')).toHaveLength(2);
      expect(events.at(-1)?.type).toBe('finish');
    }
  });

  test.each([
    ['true', true, 1],
    ['false', false, 0],
    ['a promise of true', async () => true, 1],
    ['a promise of false', async () => false, 0],
    [
      'a function that throws',
      () => {
        throw new Error('no');
      },
      1,
    ],
    ['a promise that rejects', () => Promise.reject(new Error('no')), 1],
  ])('R25: `needsApproval` as %s', async (_, needsApproval, waiting) => {
    const model = scriptedModel([calls(call('a')), 'world']);
    const { result } = await run(createAgent({ model, tools: [toolOf('a', () => 'ok', { needsApproval })] }), 'hello');
    expect(result.pending).toHaveLength(waiting);
  });

  test('R25/LC69: `needsApproval` gets the checked input and the context of the turn', async () => {
    const seen: unknown[] = [];
    const pay = tool({
      name: 'pay',
      inputSchema: z.object({ amount: z.number(), currency: z.string().default('EUR') }),
      needsApproval: (input, { context, callId }) => {
        seen.push(input, context, callId);
        return input.amount > 100;
      },
      execute: ({ amount, currency }) => `${amount} ${currency}`,
    });
    const model = scriptedModel([calls(call('pay', { amount: 5 })), calls(call('pay', { amount: 500 }))]);
    const { result } = await run(createAgent({ model, tools: [pay] }), 'hello', { context: 'who' });
    expect(seen).toEqual([
      { amount: 5, currency: 'EUR' },
      'who',
      'call_1_0',
      { amount: 500, currency: 'EUR' },
      'who',
      'call_2_0',
    ]);
    expect(results(result.messages)).toEqual(['5 EUR']);
    expect(result.pending).toMatchObject([{ callId: 'call_2_0', input: { amount: 500, currency: 'EUR' } }]);
  });

  test('R25: what fails validation is never asked', async () => {
    const model = scriptedModel([calls(call('pay', { amount: 'much' })), 'world']);
    const { result } = await run(createAgent({ model, tools: [sendMoney()] }), 'hello');
    expect(result.pending).toEqual([]);
    expect(results(result.messages)[0]).toContain('amount');
    expect(result.text).toBe('world');
  });

  test('R25/D40: a plain tool with a twin that needs approval is asked for', async () => {
    const model = scriptedModel([calls(call('a'))]);
    const { result } = await run(
      createAgent({ model, tools: [toolOf('a', () => 'plain')], extraTools: [gated('a')] }),
      'hello',
    );
    expect(result.pending).toHaveLength(1);
  });

  test('R26/LC57: with hold `all` no call starts before all decisions are in', async () => {
    const held = heldTool('plain');
    const model = scriptedModel([calls(call('plain'), call('a'), call('a', { i: 1 })), 'world']);
    const { session } = await run(createAgent({ model, tools: [held.tool, gated('a')] }), 'hello');
    expect(held.begun).toHaveLength(0);
    await session.approve('call_1_2');
    expect(held.begun).toHaveLength(0);
    await session.reject('call_1_1');
    await held.whenBegun(1);
    held.end(0, 'plain ran');
    const result = await session.settled();
    expect(results(result.messages)).toEqual(['plain ran', rejected, 'a ran']);
    expectWhole(session.messages);
  });

  test('R26: with hold `gated` the others run at once', async () => {
    const model = scriptedModel([calls(call('F1'), call('a'), call('F2', { i: 1 })), 'world']);
    const agent = createAgent({ model, tools: [F1, F2, gated('a')], approvals: { hold: 'gated' } });
    const { session, result } = await run(agent, 'hello');
    expect(result.outcome.type).toBe('pending');
    const settled = session.actor.getSnapshot().context.round?.calls.map(({ phase }) => phase);
    expect(settled).toEqual(['settled', 'awaiting-decision', 'settled']);
    await session.approve('call_1_1');
    expect(results((await session.settled()).messages)).toEqual(['Result 1', 'a ran', 'Result 2: 1']);
  });

  test('R27/A06: approved calls run; the model reads one assistant and one tool message', async () => {
    const model = scriptedModel([calls(call('a'), call('b')), 'world']);
    const { session } = await run(createAgent({ model, tools: [gated('a'), gated('b')] }), 'hello');
    await session.approve('call_1_1');
    await session.approve('call_1_0');
    const result = await session.settled();
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: hello',
      'assistant: a{} | b{}',
      'tool: a ran | b ran',
    ]);
    expect(result.text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test.each([
    [undefined, rejected],
    ['', rejected],
    ['  ', rejected],
    ['Too much.', `${rejected} Too much.`],
  ])('R27/A12, A13: rejected with the reason %j', async (reason, text) => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(call('pay', { amount: 5 })), 'world']);
    const { session } = await run(
      createAgent({ model, tools: [sendMoney(seen)], limits: { maxConsecutiveErrors: 0 } }),
      'hello',
    );
    await session.reject('call_1_0', reason === undefined ? {} : { reason });
    const result = await session.settled();
    expect(results(result.messages)).toEqual([text]);
    expect(result.text).toBe('world');
    expect(seen).toEqual([]);
    expectWhole(session.messages);
  });

  test('R27: approved with edited input: it is checked, runs, and the history records both', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(call('pay', { amount: 500 }, 'p1')), 'world']);
    const { session } = await run(createAgent({ model, tools: [sendMoney(seen)] }), 'hello');
    await session.approve('call_1_0', { input: { amount: 5 }, by: 'ann' });
    const result = await session.settled();
    expect(seen).toEqual([5]);
    expect(transcript(result.messages)[1]).toBe('assistant: pay{"amount":5}');
    expect(result.messages[1]).toMatchObject({
      content: [{ providerOptions: { agentchart: { originalInput: { amount: 500 }, providerCallId: 'p1' } } }],
    });
    expect(session.actor.getSnapshot().context.decisions).toMatchObject([{ edited: true, by: 'ann' }]);
    expectWhole(session.messages);
  });

  test('R27/LC63: an edit that does not fit is refused, changes nothing, and the call still waits', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(call('pay', { amount: 500 }), call('pay', { amount: 1 })), 'world']);
    const { session } = await run(createAgent({ model, tools: [sendMoney(seen)] }), 'hello');
    const edit = session.approve('call_1_0', { input: { amount: 'few' }, remember: 'tool' });
    await session.approve('call_1_1', { by: 'bob' });
    await expect(edit).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(
        /^the arguments for the tool "\w+" are not valid; the tool did not run\.\n- amount: /,
      ),
    });
    const { decisions } = session.actor.getSnapshot().context;
    expect(decisions).toMatchObject([{ callId: 'call_1_1', by: 'bob' }]);
    expect(isRemembered(session.actor.getSnapshot().context, 'pay')).toBe(false);
    expect(session.pending).toMatchObject([
      { callId: 'call_1_0', input: { amount: 500 }, refusedEdit: expect.stringContaining('amount') },
    ]);
    await session.approve('call_1_0', { input: { amount: 3 } });
    await session.settled();
    expect(new Set(seen)).toEqual(new Set([3, 1]));
    expectWhole(session.messages);
  });

  test('R27: a human answers in the place of the tool', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(call('pay', { amount: 5 })), 'world']);
    const { session } = await run(createAgent({ model, tools: [sendMoney(seen)] }), 'hello');
    await session.respond('call_1_0', { paid: true }, { by: 'ann' });
    const result = await session.settled();
    expect(results(result.messages)).toEqual(['{"paid":true}']);
    expect(seen).toEqual([]);
  });

  test('R28: a decision on a tool sticks for this session, also over a restore; others are asked', async () => {
    const seen: unknown[] = [];
    const pay = calls(call('pay', { amount: 5 }));
    const model = scriptedModel([pay, calls(call('pay', { amount: 6 })), 'world', pay, 'again', pay]);
    const agent = createAgent({ model, tools: [sendMoney(seen)] });
    const { session } = await run(agent, 'hello');
    await session.approve('call_1_0', { remember: 'tool' });
    expect((await session.settled()).text).toBe('world');
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    expect((await run(agent, 'more', { session: restored })).result.text).toBe('again');
    expect(seen).toEqual([5, 6, 5]);
    expect((await run(agent, 'a session of its own')).result.outcome.type).toBe('pending');
  });

  test('R28/M47: a decision on exactly these arguments holds for them, whatever the order of their keys', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([
      calls(call('a', { x: 1, y: 2 })),
      calls(call('a', { y: 2, x: 1 })),
      calls(call('a', { x: 1 })),
    ]);
    const { session } = await run(createAgent({ model, tools: [gated('a', seen)] }), 'hello');
    await session.approve('call_1_0', { remember: 'input' });
    const result = await session.settled();
    expect(result.pending.map(({ callId }) => callId)).toEqual(['call_3_0']);
    expect(seen).toHaveLength(2);
  });

  test('R28: a decision on these arguments beats one on the tool', async () => {
    const model = scriptedModel([
      calls(call('a', { n: 1 }), call('a', { n: 2 })),
      calls(call('a', { n: 1 }), call('a', { n: 2 })),
      'world',
    ]);
    const { session } = await run(createAgent({ model, tools: [gated('a')] }), 'hello');
    await session.approve('call_1_0', { remember: 'tool' });
    await session.reject('call_1_1', { remember: 'input' });
    const result = await session.settled();
    expect(results(result.messages).slice(2)).toEqual(['a ran', expect.stringContaining(rejected)]);
  });

  test('R28: what is remembered of an edited call are the arguments that were approved', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([
      calls(call('pay', { amount: 500 })),
      calls(call('pay', { amount: 5 })),
      calls(call('pay', { amount: 500 })),
    ]);
    const { session } = await run(createAgent({ model, tools: [sendMoney(seen)] }), 'hello');
    await session.approve('call_1_0', { input: { amount: 5 }, remember: 'input' });
    const result = await session.settled();
    expect(seen).toEqual([5, 5]);
    expect(result.pending).toMatchObject([{ callId: 'call_3_0', input: { amount: 500 } }]);
  });

  test('R28: a remembered edit holds for what the model gives in the same words, also where its check adds to them', async () => {
    const seen: unknown[] = [];
    const pay = tool({
      name: 'pay',
      inputSchema: z.object({ amount: z.number(), currency: z.string().default('EUR') }),
      needsApproval: true,
      execute: (input) => seen.push(input),
    });
    const model = scriptedModel([
      calls(call('pay', { amount: 500 })),
      calls(call('pay', { amount: 5 })),
      calls(call('pay', { amount: 5, currency: 'USD' })),
    ]);
    const { session } = await run(createAgent({ model, tools: [pay] }), 'hello');
    await session.approve('call_1_0', { input: { amount: 5 }, remember: 'input' });
    const { pending } = await session.settled();
    expect(seen).toEqual([
      { amount: 5, currency: 'EUR' },
      { amount: 5, currency: 'EUR' },
    ]);
    expect(pending).toMatchObject([{ callId: 'call_3_0', input: { currency: 'USD' } }]);
  });

  test('R27: an edited call that the application answers shows it the edited arguments, as they were checked', async () => {
    const look = tool({
      name: 'look',
      inputSchema: z.object({ at: z.string(), how: z.string().default('twice') }),
      needsApproval: true,
    });
    const model = scriptedModel([calls(call('look', { at: 'the door' })), 'world']);
    const { session } = await run(createAgent({ model, tools: [look] }), 'hello');
    const [asked] = session.pending;
    await session.approve('call_1_0', { input: { at: 'the window' } });
    const { pending } = await session.settled();
    expect(pending).toMatchObject([{ needs: 'result', input: { at: 'the window', how: 'twice' } }]);
    expect(pending[0]?.inputHash).not.toBe(asked?.inputHash);
    await session.respond('call_1_0', 'seen', { inputHash: pending[0]?.inputHash ?? '' });
    expect((await session.settled()).text).toBe('world');
  });

  test('R28: a remembered tool whose arguments are no JSON once checked is still found', async () => {
    const big = tool({
      name: 'big',
      inputSchema: { jsonSchema: { type: 'object' }, validate: () => ({ n: 5n }) },
      needsApproval: true,
      execute: ({ n }: { n: bigint }) => n * 2n,
    });
    const model = scriptedModel([calls(call('big', { n: '5' })), calls(call('big', { n: '5' })), 'world']);
    const { session } = await run(createAgent({ model, tools: [big] }), 'hello');
    await session.approve('call_1_0', { remember: 'input' });
    expect(results((await session.settled()).messages)).toEqual(['10', '10']);
  });

  test.each([
    ['approve', 'ran'],
    ['reject', rejected],
    ['ask', 'pending'],
  ] as const)('R28/M49: a policy that says %s decides for all tools', async (verdict, expected) => {
    const model = scriptedModel([calls(call('a'), call('plain')), 'world']);
    const agent = createAgent({
      model,
      tools: [gated('a'), toolOf('plain', () => 'plain ran')],
      approvals: { policy: async () => verdict },
    });
    const { result } = await run(agent, 'hello');
    if (expected === 'pending') expect(result.pending).toHaveLength(2);
    else expect(results(result.messages).every((text) => text.includes(expected))).toBe(true);
  });

  test('R28: a policy that throws means `ask`; one that says nothing leaves it to the tool', async () => {
    const model = scriptedModel([calls(call('plain')), calls(call('plain')), 'world']);
    const plain = toolOf('plain', () => 'plain ran');
    const strict = createAgent({
      model,
      tools: [plain],
      approvals: {
        policy: () => {
          throw new Error('no');
        },
      },
    });
    expect((await run(strict, 'hello')).result.pending).toHaveLength(1);
    const lax = createAgent({ model, tools: [plain], approvals: { policy: () => undefined } });
    expect((await run(lax, 'hello')).result.text).toBe('world');
  });

  test('R31: who decided what and when is kept, over a restore', async () => {
    const clock = manualClock(1000);
    const model = scriptedModel([calls(call('a'), call('a', { n: 1 }), call('a', { n: 2 })), 'world']);
    const agent = createAgent({ model, tools: [gated('a')], clock });
    const { session, result } = await run(agent, 'hello');
    await session.approve('call_1_0', { by: 'ann' });
    clock.advance(5);
    await session.reject('call_1_1', { by: 'bob', reason: 'no' });
    clock.advance(5);
    const restored = agent.restore(session.toJSON());
    await restored.respond('call_1_2', 'by hand', { by: 'eve' });
    await restored.settled();
    const hashes = result.pending.map(({ inputHash }) => inputHash);
    expect(restored.actor.getSnapshot().context.decisions).toEqual([
      { callId: 'call_1_0', tool: 'a', decision: 'approved', at: 1000, by: 'ann', inputHash: hashes[0] },
      { callId: 'call_1_1', tool: 'a', decision: 'rejected', at: 1005, by: 'bob', inputHash: hashes[1] },
      {
        callId: 'call_1_2',
        tool: 'a',
        decision: 'answered',
        at: 1010,
        by: 'eve',
        inputHash: hashes[2],
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
    // What was said with them is in the history.
    expect(results(restored.messages).slice(1)).toEqual(['Tool call invocation rejected. no', 'by hand']);
  });

  test('R3, R26/A18: a tool that needs approval and is not called changes nothing', async () => {
    const model = scriptedModel([calls(call('F1')), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1, gated('a')] }), 'hello');
    expect(result.text).toBe('world');
    model.assertFinished();
  });

  test('R18/D28: an unknown tool is answered without asking, beside one that is asked for', async () => {
    const model = scriptedModel([calls(call('nope'), call('a')), 'world']);
    const { session, result } = await run(createAgent({ model, tools: [gated('a')] }), 'hello');
    expect(result.pending.map(({ tool }) => tool)).toEqual(['a']);
    await session.approve('call_1_1');
    expect(results((await session.settled()).messages)[0]).toContain('there is no tool named');
  });

  test('R19, R20/D30: the failure of an approved call counts', async () => {
    const odd = toolOf('odd', () => new Error('Oh no!'), { needsApproval: true });
    const model = scriptedModel([calls(call('odd'))]);
    const { session } = await run(createAgent({ model, tools: [odd], limits: { maxConsecutiveErrors: 0 } }), 'hello');
    await session.approve('call_1_0');
    await expect(session.settled()).rejects.toMatchObject({ code: 'error-limit' });
    expectWhole(session.messages);
  });

  test('R7/D34: approved calls run in parallel', async () => {
    const held = heldTool('held', { needsApproval: true });
    const model = scriptedModel([calls(call('held'), call('held', { n: 1 })), 'world']);
    const { session } = await run(createAgent({ model, tools: [held.tool] }), 'hello');
    await session.approve('call_1_0');
    await session.approve('call_1_1');
    await held.whenBegun(2);
    held.end(0);
    held.end(1);
    expect((await session.settled()).text).toBe('world');
  });
});

describe('decisions (R29)', () => {
  const waiting = async (): Promise<Session> => {
    const model = scriptedModel([calls(call('a'), call('b')), calls(call('a'))]);
    const agent = createAgent({ model, tools: [gated('a'), gated('b')] });
    const { sessionId } = await agent.run('hello');
    return agent.open(sessionId);
  };
  const unchanged = async (
    session: Session,
    decide: () => Promise<void>,
    code: string,
    text: string,
  ): Promise<void> => {
    const before = session.toJSON();
    await expect(decide()).rejects.toMatchObject({ name: 'AgentError', code, message: expect.stringContaining(text) });
    expect(session.toJSON()).toEqual(before);
  };

  test('R29: for a call that does not exist', async () => {
    const session = await waiting();
    for (const callId of ['call_9_9', '', '__proto__', 'constructor']) {
      await unchanged(session, () => session.approve(callId), 'unknown-call', 'call_1_0 (a), call_1_1 (b)');
      await unchanged(session, () => session.reject(callId), 'unknown-call', 'call_1_0');
      await unchanged(session, () => session.respond(callId, 'x'), 'unknown-call', 'call_1_0');
    }
  });

  test('R29: for a call that is settled', async () => {
    const session = await waiting();
    await session.cancel('call_1_0');
    await unchanged(session, () => session.approve('call_1_0'), 'call-settled', 'too late');
    await session.reject('call_1_1');
    await session.settled();
    await unchanged(session, () => session.approve('call_1_0'), 'call-settled', 'too late');
  });

  test('R29: for other arguments than those that were shown', async () => {
    const session = await waiting();
    await unchanged(
      session,
      () => session.approve('call_1_0', { inputHash: 'other' }),
      'call-changed',
      'other arguments',
    );
    await unchanged(
      session,
      () => session.reject('call_1_0', { inputHash: 'other' }),
      'call-changed',
      'other arguments',
    );
    await unchanged(
      session,
      () => session.respond('call_1_0', 1, { inputHash: 'other' }),
      'call-changed',
      'other arguments',
    );
    const [first] = session.pending;
    await session.approve('call_1_0', { inputHash: first?.inputHash ?? '' });
    expect(session.pending.map(({ callId }) => callId)).toEqual(['call_1_1']);
  });

  test('R29: the same decision again is a no-op, another one is refused', async () => {
    const session = await waiting();
    await session.approve('call_1_0');
    const before = session.toJSON();
    await session.approve('call_1_0');
    expect(session.toJSON()).toEqual(before);
    await unchanged(session, () => session.reject('call_1_0'), 'decision-conflict', 'was approved already');
    await unchanged(session, () => session.respond('call_1_0', 'x'), 'decision-conflict', 'was approved already');
    await session.reject('call_1_1');
    await session.settled();
    await session.reject('call_1_1');
    await unchanged(session, () => session.approve('call_1_1'), 'decision-conflict', 'was rejected already');
  });

  test.each([
    ['approve', undefined, 'tool'],
    ['approve', 'input', 'tool'],
    ['reject', undefined, 'input'],
  ] as const)('R29: %s again, to remember more than %s, is a contradiction', async (decide, first, more) => {
    const session = await waiting();
    const given = first === undefined ? {} : { remember: first };
    await session[decide]('call_1_0', given);
    await unchanged(session, () => session[decide]('call_1_0', { remember: more }), 'decision-conflict', 'already');
    await session[decide]('call_1_0', given);
    await session[decide]('call_1_0');
    const { decisions } = session.actor.getSnapshot().context;
    expect(decisions.map(({ remembered }) => remembered)).toEqual([first]);
  });

  test('R29: an approval with another edit than the one that ran is a contradiction', async () => {
    const session = await waiting();
    await session.approve('call_1_0', { input: { n: 1 } });
    await session.approve('call_1_0', { input: { n: 1 } });
    await unchanged(
      session,
      () => session.approve('call_1_0', { input: { n: 2 } }),
      'decision-conflict',
      'approved already',
    );
  });

  test('R29: an approval of a tool that the application answers says to use `respond`', async () => {
    const model = scriptedModel([calls(call('ask')), 'world']);
    const ask = tool({ name: 'ask', inputSchema: z.looseObject({}) });
    const agent = createAgent({ model, tools: [ask] });
    const session = await agent.open((await agent.run('hello')).sessionId);
    await unchanged(session, () => session.approve('call_1_0'), 'decision-conflict', 'respond()');
  });

  test('R29: an output that is not JSON is refused', async () => {
    const session = await waiting();
    // @ts-expect-error: the type says JSON.
    await unchanged(session, () => session.respond('call_1_0', new Date()), 'invalid-input', 'plain JSON');
  });

  test('R29: the hash does not depend on the order of keys, and does on the arguments', async () => {
    const hashOf = async (input: unknown): Promise<string | undefined> => {
      const agent = createAgent({ model: scriptedModel([calls(call('a', input))]), tools: [gated('a')] });
      return (await agent.run('hello')).pending[0]?.inputHash;
    };
    expect(await hashOf({ x: 1, y: { b: 1, a: 2 } })).toBe(await hashOf({ y: { a: 2, b: 1 }, x: 1 }));
    expect(await hashOf({ x: 1 })).not.toBe(await hashOf({ x: 2 }));
    expect(await hashOf({ x: 1 })).toMatch(/^[0-9a-f]{64}$/);
  });

  test('R27: decisions one by one, after any number of restores, in another process', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(...Array.from({ length: 6 }, (_, n) => call('a', { n }))), 'world']);
    const options = { model, tools: [gated('a', seen)] };
    let session = await (async () => {
      const agent = createAgent(options);
      return agent.open((await agent.run('hello')).sessionId);
    })();
    for (const n of [3, 0, 5, 1, 4, 2]) {
      session = createAgent(options).restore(JSON.stringify(session.toJSON()));
      await session.approve(`call_1_${n}`, { input: { n: n * 10 } });
    }
    const result = await session.settled();
    expect(seen).toHaveLength(6);
    expect(transcript(result.messages)[1]).toBe(
      'assistant: a{"n":0} | a{"n":10} | a{"n":20} | a{"n":30} | a{"n":40} | a{"n":50}',
    );
    expect(result.text).toBe('world');
    expectWhole(session.messages);
    model.assertFinished();
  });

  test('R27, R29: a restore of a call with a refused edit keeps the decisions that were taken', async () => {
    const model = scriptedModel([calls(call('pay', { amount: 1 }), call('pay', { amount: 2 })), 'world']);
    const agent = createAgent({ model, tools: [sendMoney()] });
    let session = await agent.open((await agent.run('hello')).sessionId);
    await session.approve('call_1_1', { by: 'ann' });
    await expect(session.approve('call_1_0', { input: {} })).rejects.toMatchObject({ code: 'invalid-input' });
    for (let times = 0; times < 3; times += 1) session = agent.restore(session.toJSON());
    expect(session.actor.getSnapshot().context.decisions).toMatchObject([{ callId: 'call_1_1', by: 'ann' }]);
    expect(session.pending).toMatchObject([{ callId: 'call_1_0', refusedEdit: expect.any(String) }]);
  });
});

describe('expiry (R30)', () => {
  const days = 24 * 60 * 60 * 1000;

  test('R30: a decision that does not come in time is a rejection, also after more than 24.8 days', async () => {
    const clock = manualClock();
    const model = scriptedModel([calls(call('a')), 'world']);
    const agent = createAgent({ model, tools: [gated('a')], clock, approvals: { expireAfter: 60 * days } });
    const { sessionId, pending } = await agent.run('hello');
    expect(pending[0]?.expiresAt).toBe(clock.now() + 60 * days);
    const session = await agent.open(sessionId);
    clock.advance(59 * days);
    expect(session.status).toBe('waiting');
    clock.advance(1 * days);
    const result = await resting(session);
    expect(results(result.messages)).toEqual([`${rejected} expired`]);
    expect(result.text).toBe('world');
    expectWhole(session.messages);
  });

  test('R30: the time goes on while the session is closed', async () => {
    const clock = manualClock();
    const model = scriptedModel([calls(call('a')), 'world']);
    const agent = createAgent({ model, tools: [gated('a')], clock, approvals: { expireAfter: 1000 } });
    const session = await agent.open((await agent.run('hello')).sessionId);
    const document = session.toJSON();
    await session[Symbol.asyncDispose]();
    expect(clock.timers).toBe(0);
    clock.advance(900);
    const restored = agent.restore(document);
    expect(await clock.armed()).toBe(100);
    expect(restored.status).toBe('waiting');
    clock.advance(100);
    expect((await resting(restored)).text).toBe('world');
  });

  test('R29, R30: a decision after the expiry is too late', async () => {
    const clock = manualClock();
    const model = scriptedModel([calls(call('a')), 'world']);
    const agent = createAgent({ model, tools: [gated('a')], clock, approvals: { expireAfter: 1000 } });
    const session = await agent.open((await agent.run('hello')).sessionId);
    clock.advance(1000);
    await resting(session);
    await expect(session.approve('call_1_0')).rejects.toMatchObject({ code: 'call-settled' });
  });

  test('R30: without `expireAfter` no timer is set', async () => {
    const clock = manualClock();
    const agent = createAgent({ model: scriptedModel([calls(call('a'))]), tools: [gated('a')], clock });
    const { pending } = await agent.run('hello');
    expect(pending[0]).not.toHaveProperty('expiresAt');
    expect(clock.timers).toBe(0);
  });
});
