import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/messages/json.ts';
import type { ModelReply } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';
import { scriptedModel } from './script.ts';

const rejected = 'Tool call invocation rejected.';

/** A tool that needs approval, and what it ran with. */
const gated = (name: string) => {
  const inputs: unknown[] = [];
  const run = (input: unknown): string => {
    inputs.push(input);
    return `${name} ran`;
  };
  return { tool: toolOf(name, run, { needsApproval: true }), inputs };
};

const pay = () => {
  const inputs: number[] = [];
  return {
    inputs,
    tool: tool({
      name: 'pay',
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: ({ amount }) => {
        inputs.push(amount);
        return `paid ${amount}`;
      },
    }),
  };
};

/** An agent that asks the people, and its session when it waits for them. */
const waiting = async (answers: readonly ScriptedAnswer[], ...tools: Tool[]) => {
  const model = scriptedModel(answers);
  const agent = createAgent({ model, tools });
  const session = await agent.open((await agent.run('hello')).sessionId);
  return { agent, model, session };
};

const end = async (session: Session): Promise<string[]> => {
  const result = await session.settled();
  expectWhole(session.messages);
  return results(result.messages);
};

inBothModes('approvals', (run) => {
  test.each(['tools', 'extraTools'] as const)(
    'R26/A03: one of two tools needs approval and stands in %s: both calls wait, one is asked for',
    async (place) => {
      const asks = gated('asks');
      const held = heldTool('plain');
      const other = place === 'tools' ? 'extraTools' : 'tools';
      const model = scriptedModel([calls(call('plain'), call('asks')), 'world']);
      const agent = createAgent({ model, [place]: [asks.tool], [other]: [held.tool] });
      const { result, session } = await run(agent, 'hello');
      expect(result.pending.map(({ callId, tool: name }) => [callId, name])).toEqual([['call_1_1', 'asks']]);
      expect(held.begun).toHaveLength(0);
      await session.approve('call_1_1');
      await held.whenBegun(1);
      held.end(0, 'plain ran');
      expect(await end(session)).toEqual(['plain ran', 'asks ran']);
    },
  );

  test('R25/A04: a tool that is wrapped still asks', async () => {
    const asks = gated('asks');
    const wrap = (inner: Tool): Tool => ({
      ...inner,
      execute: async (input, ctx) => `[${String(await inner.execute?.(input, ctx))}]`,
    });
    const model = scriptedModel([calls(call('F1'), call('asks')), 'world']);
    const agent = createAgent({ model, tools: [wrap(F1), wrap(wrap(asks.tool))] });
    const { result, session } = await run(agent, 'hello');
    expect(result.pending.map(({ tool: name }) => name)).toEqual(['asks']);
    await session.approve('call_1_1');
    expect(await end(session)).toEqual(['[Result 1]', '[[asks ran]]']);
  });

  test('R27/A07: calls of one reply stay one message, whenever they are decided, and over a restore', async () => {
    const a = gated('a');
    const model = scriptedModel([{ ...calls(call('a'), call('a', { n: 1 })), text: 'Let me see.' }, 'world']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    await session.approve('call_1_1');
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    await restored.approve('call_1_0');
    await end(restored);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: hello',
      'assistant: Let me see. | a{} | a{"n":1}',
      'tool: a ran | a ran',
    ]);
  });

  test('R27/A09: both calls rejected: both are answered, none runs, the model goes on', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a'), call('a', { n: 1 })), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool] }), 'hello');
    await session.reject('call_1_0');
    await session.reject('call_1_1');
    expect(await end(session)).toEqual([rejected, rejected]);
    expect(a.inputs).toEqual([]);
  });

  test('R6, R27/A10, LC65: one rejected, one approved: the approved one runs, and results stand in call order', async () => {
    const [a, b] = [gated('a'), gated('b')];
    const model = scriptedModel([calls(call('a'), call('b')), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool, b.tool] }), 'hello');
    await session.approve('call_1_1');
    await session.reject('call_1_0');
    expect(await end(session)).toEqual([rejected, 'b ran']);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: hello',
      'assistant: a{} | b{}',
      `tool: ${rejected} | b ran`,
    ]);
  });

  test('R27/A12: three calls: rejected with a reason, rejected without, approved', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(...[0, 1, 2].map((n) => call('a', { n }))), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool] }), 'hello');
    await session.reject('call_1_0', { reason: 'Too much.' });
    await session.reject('call_1_1');
    await session.approve('call_1_2');
    expect(await end(session)).toEqual([`${rejected} Too much.`, rejected, 'a ran']);
    expect(a.inputs).toEqual([{ n: 2 }]);
  });

  test('R6, R27/A15: calls that were approved before are history: only the new one is asked for and runs', async () => {
    const a = gated('a');
    const model = scriptedModel([
      calls(call('a', { n: 1 }), call('a', { n: 2 })),
      'one',
      calls(call('a', { n: 3 })),
      'two',
    ]);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    await session.approve('call_1_0');
    await session.approve('call_1_1');
    await session.settled();
    const { result } = await run(agent, 'more', { session });
    expect(result.pending.map(({ callId }) => callId)).toEqual(['call_2_0']);
    await session.approve('call_2_0');
    const last = await session.settled();
    expect(transcript(last.messages)).toEqual(['user: more', 'assistant: a{"n":3}', 'tool: a ran', 'assistant: two']);
    expect(a.inputs).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(model.requests.at(-1)?.messages).toHaveLength(7);
    expectWhole(session.messages);
  });

  test('R6, R29/A16: a rejected call is settled for good, also in a session that was read from text', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a')), 'one', 'two']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    await restored.reject('call_1_0');
    await restored.settled();
    await run(agent, 'more', { session: restored });
    await expect(restored.approve('call_1_0')).rejects.toMatchObject({ code: 'decision-conflict' });
    expect(a.inputs).toEqual([]);
  });

  test('R33/A19: a message without a decision: the model is not asked, the call still waits', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a')), 'world']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    const { result } = await run(agent, 'and?', { session });
    expect(result.outcome).toEqual({ type: 'pending' });
    expect(result.pending.map(({ callId }) => callId)).toEqual(['call_1_0']);
    expect(model.requests).toHaveLength(1);
    await session.approve('call_1_0');
    await end(session);
    expect(transcript(session.messages).slice(2)).toEqual(['tool: a ran', 'user: and?', 'assistant: world']);
  });

  test('R33, R34/A24: a message after the decision stands behind the results', async () => {
    const held = heldTool('held', { needsApproval: true });
    const model = scriptedModel([calls(call('held')), 'world']);
    const { session } = await run(createAgent({ model, tools: [held.tool] }), 'hello');
    await session.approve('call_1_0');
    const fate = session.send('Keep it short.', { mode: 'steer' });
    await held.whenBegun(1);
    held.end(0, 'ran');
    expect(await fate).toEqual({ type: 'delivered' });
    await end(session);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: hello',
      'assistant: held{}',
      'tool: ran',
      'user: Keep it short.',
    ]);
  });

  test('R33/A25: a message with the decision, in the same moment, stands behind the results as well', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a')), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool] }), 'hello');
    await Promise.all([session.send('Keep it short.'), session.approve('call_1_0')]);
    await end(session);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: hello',
      'assistant: a{}',
      'tool: a ran',
      'user: Keep it short.',
    ]);
  });

  test('R44/A30: what the provider said of its reply is kept through an approval', async () => {
    const a = gated('a');
    const providerOptions = { openai: { id: 'original-message-id' } };
    const first: ModelReply = {
      message: {
        role: 'assistant',
        providerOptions,
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'a', input: {} }],
      },
      finishReason: 'tool-calls',
    };
    const model = scriptedModel([first, 'world']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    await restored.approve('call_1_0');
    await end(restored);
    expect(model.requests[1]?.messages[1]).toEqual(first.message);
  });

  test('R6/D33: approved and rejected calls keep their order', async () => {
    const [a, b] = [gated('a'), gated('b')];
    const model = scriptedModel([calls(call('a'), call('b')), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool, b.tool] }), 'hello');
    await session.reject('call_1_1');
    await session.approve('call_1_0');
    expect(await end(session)).toEqual(['a ran', rejected]);
  });

  test('R20/D31: the failure of an approved call is one of the failing rounds in a row', async () => {
    const odd = toolOf('odd', () => new Error('Oh no!'), { needsApproval: true });
    const plain = toolOf('plain', () => new Error('Oh no!'));
    const model = scriptedModel([calls(call('odd')), calls(call('plain'))]);
    const { session } = await run(
      createAgent({ model, tools: [odd, plain], limits: { maxConsecutiveErrors: 1 } }),
      'hello',
    );
    await session.approve('call_1_0');
    await expect(session.settled()).rejects.toMatchObject({ code: 'error-limit' });
    expectWhole(session.messages);
  });

  test('R27/D42, LC60: fewer decisions than calls: nothing goes on, and the missing one is named', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a'), call('a', { n: 1 }))]);
    const { session } = await run(createAgent({ model, tools: [a.tool] }), 'hello');
    await session.approve('call_1_0');
    const { outcome, pending } = await session.settled();
    expect(outcome).toEqual({ type: 'pending' });
    expect(pending.map(({ callId }) => callId)).toEqual(['call_1_1']);
    expect(a.inputs).toEqual([]);
    expectWhole(session.messages);
  });

  test('R27/LC59: all calls that wait stand in one result, in call order, each with what would run', async () => {
    const [a, b] = [gated('a'), gated('b')];
    const model = scriptedModel([calls(call('b', { n: 1 }), call('F1'), call('a'), call('b', { n: 2 }))]);
    const { result } = await run(createAgent({ model, tools: [F1, a.tool, b.tool] }), 'hello');
    expect(result.pending.map(({ callId, tool: name, input }) => [callId, name, input])).toEqual([
      ['call_1_0', 'b', { n: 1 }],
      ['call_1_2', 'a', {}],
      ['call_1_3', 'b', { n: 2 }],
    ]);
  });

  test('R6, R27/LC66: plain, edited, rejected and answered calls of one round keep their order', async () => {
    const { tool: payTool, inputs } = pay();
    const amounts = [1, 2, 3, 4].map((amount) => call('pay', { amount }));
    const model = scriptedModel([calls(call('F1'), ...amounts), 'world']);
    const { session } = await run(createAgent({ model, tools: [F1, payTool] }), 'hello');
    await session.respond('call_1_4', 'paid by hand');
    await session.reject('call_1_3', { reason: 'No.' });
    await session.approve('call_1_2', { input: { amount: 20 } });
    await session.approve('call_1_1');
    expect(await end(session)).toEqual(['Result 1', 'paid 1', 'paid 20', `${rejected} No.`, 'paid by hand']);
    expect(inputs.toSorted((x, y) => x - y)).toEqual([1, 20]);
    expect(transcript(session.messages)[1]).toBe(
      'assistant: F1{} | pay{"amount":1} | pay{"amount":20} | pay{"amount":3} | pay{"amount":4}',
    );
  });

  test.each([null, false, 0, '', []])('R27/LC104: the answer %j of a person is an answer', async (output) => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a')), 'world']);
    const { session } = await run(createAgent({ model, tools: [a.tool] }), 'hello');
    await session.respond('call_1_0', output);
    const [text] = await end(session);
    expect(text).toBe(output === null || output === '' ? 'Success: function completed.' : JSON.stringify(output));
    expect(a.inputs).toEqual([]);
  });

  test('R26/LC99: a call that waits for people does not disturb one that runs', async () => {
    const a = gated('a');
    const held = heldTool('held');
    const model = scriptedModel([calls(call('a'), call('held')), 'world']);
    const agent = createAgent({ model, tools: [a.tool, held.tool], approvals: { hold: 'gated' } });
    const session = await agent.open();
    const running = run(agent, 'hello', { session });
    await held.whenBegun(1);
    expect(held.begun[0]?.signal.aborted).toBe(false);
    held.end(0, 'ran');
    expect((await running).result.outcome).toEqual({ type: 'pending' });
    expect(held.begun[0]?.signal.aborted).toBe(false);
    await session.approve('call_1_0');
    expect(await end(session)).toEqual(['a ran', 'ran']);
    expect(held.begun).toHaveLength(1);
  });

  test('R28/M49: what a person decided for good comes before the policy', async () => {
    const asked: string[] = [];
    const plain = toolOf('plain', () => 'plain ran');
    const model = scriptedModel([calls(call('plain')), calls(call('plain')), calls(call('F1')), 'world']);
    const agent = createAgent({
      model,
      tools: [plain, F1],
      approvals: {
        policy: ({ tool: name }) => {
          asked.push(name);
          return name === 'plain' ? 'ask' : undefined;
        },
      },
    });
    const { session } = await run(agent, 'hello');
    await session.approve('call_1_0', { remember: 'tool' });
    expect(await end(session)).toEqual(['plain ran', 'plain ran', 'Result 1']);
    expect(asked).toEqual(['plain', 'F1']);
  });

  test('R28/M47: a decision on no arguments holds for no arguments only, and holds in the next run', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a'), call('a', {})), 'one', calls(call('a'), call('a', { n: 1 })), 'two']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session } = await run(agent, 'hello');
    await session.approve('call_1_0', { remember: 'input' });
    await session.approve('call_1_1', { remember: 'input' });
    await session.settled();
    const { result } = await run(agent, 'more', { session });
    expect(result.pending).toMatchObject([{ callId: 'call_2_1', input: { n: 1 } }]);
    await session.reject('call_2_1');
    await end(session);
  });

  test('R6, R31/M40, M41, M43: the history holds calls and results, of an approval nothing; who decided stands beside it', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a'), call('a', { n: 1 })), 'world']);
    const agent = createAgent({ model, tools: [a.tool] });
    const { session, result } = await run(agent, 'hello');
    expect(transcript(result.messages)).toEqual(['user: hello']);
    await session.approve('call_1_0', { by: 'ann' });
    await session.reject('call_1_1', { by: 'ann' });
    await end(session);
    const stored = agent.restore(JSON.stringify(session.toJSON()));
    expect(transcript(stored.messages)).toEqual([
      'user: hello',
      'assistant: a{} | a{"n":1}',
      `tool: a ran | ${rejected}`,
      'assistant: world',
    ]);
    expect(results(model.requests[1]?.messages ?? [])).toEqual(['a ran', rejected]);
    expect(stored.actor.getSnapshot().context.decisions.map(({ decision, by }) => [decision, by])).toEqual([
      ['approved', 'ann'],
      ['rejected', 'ann'],
    ]);
  });
});

describe('decisions that do not fit', () => {
  test('R29/D25: the same approval twice runs the call once', async () => {
    const held = heldTool('held', { needsApproval: true });
    const { session } = await waiting([calls(call('held')), 'world'], held.tool);
    await Promise.all([session.approve('call_1_0'), session.approve('call_1_0')]);
    await held.whenBegun(1);
    await session.approve('call_1_0');
    held.end(0, 'ran');
    expect(await end(session)).toEqual(['ran']);
    expect(held.begun).toHaveLength(1);
  });

  test('R29/D27: a decision before its call exists is refused, and the call is asked for all the same', async () => {
    const a = gated('a');
    const model = scriptedModel([calls(call('a'))]);
    const agent = createAgent({ model, tools: [a.tool] });
    const session = await agent.open();
    await expect(session.approve('call_1_0')).rejects.toMatchObject({ code: 'unknown-call' });
    const { pending } = await agent.run('hello', { session });
    expect(pending.map(({ callId }) => callId)).toEqual(['call_1_0']);
    expect(a.inputs).toEqual([]);
  });

  test.each([undefined, null, 7, {}, ['call_1_0']])(
    'R29/LC62: a decision on %j, which is no call, is refused',
    async (callId) => {
      const a = gated('a');
      const { session } = await waiting([calls(call('a'))], a.tool);
      const before = session.toJSON();
      // @ts-expect-error: the type wants the id of a call.
      await expect(session.approve(callId)).rejects.toMatchObject({ code: 'unknown-call' });
      expect(session.toJSON()).toEqual(before);
    },
  );

  test('R18/D28: an approved call whose tool is gone is answered as unknown', async () => {
    const a = gated('a');
    const { session, model } = await waiting([calls(call('a')), 'world'], a.tool);
    const without = createAgent({ model, tools: [F1] });
    const restored = without.restore(session.toJSON());
    await session[Symbol.asyncDispose]();
    await restored.approve('call_1_0');
    expect(await end(restored)).toEqual(['Error: there is no tool named "a". Known tools: F1.']);
    expect(a.inputs).toEqual([]);
  });

  test('R29/M44: a decision for a call that nobody made changes nothing', async () => {
    const { tool: payTool } = pay();
    const { session } = await waiting([calls(call('pay', { amount: 5 }))], payTool);
    const before = session.toJSON();
    for (const decide of [session.approve, session.reject]) {
      await expect(decide('call_7_7')).rejects.toMatchObject({ code: 'unknown-call' });
    }
    session.actor.send({ type: 'approval.granted', callId: 'call_7_7', input: { amount: 1 } });
    expect(session.toJSON()).toEqual(before);
  });

  test('R29/M44: what was shown can be changed by whoever holds it; what runs is what was recorded', async () => {
    const { tool: payTool, inputs } = pay();
    const { session, agent } = await waiting([calls(call('pay', { amount: 5 })), 'world'], payTool);
    const live = session.pending[0]?.input as JsonObject;
    live['amount'] = 500;
    const given = (await agent.run('and?', { session })).pending[0]?.input as JsonObject;
    given['amount'] = 500;
    expect(session.pending).toMatchObject([{ input: { amount: 5 } }]);
    await session.approve('call_1_0');
    expect(await end(session)).toEqual(['paid 5']);
    expect(inputs).toEqual([5]);
    expect(transcript(session.messages)[1]).toBe('assistant: pay{"amount":5}');
  });

  test('R29/M44: whoever listens cannot change what runs, nor can a tool that is tried again', async () => {
    const seen: string[] = [];
    const greedy = toolOf(
      'greedy',
      (input) => {
        seen.push(JSON.stringify(input));
        input['amount'] = 700;
        return seen.length === 1 ? new Error('Oh no!') : 'paid';
      },
      { needsApproval: (input) => input['amount'] === 5, retry: { attempts: 2, initialDelay: 0 } },
    );
    const model = scriptedModel([calls(call('greedy', { amount: 5 }), call('greedy', { amount: 6 })), 'world']);
    const session = await createAgent({ model, tools: [greedy], concurrency: 1 }).open();
    session.actor.on('tool-call', ({ input }) => Object.assign(input as JsonObject, { amount: 500 }));
    session.actor.on('approval-request', ({ waiting: { input } }) => Object.assign(input ?? {}, { amount: 500 }));
    await session.send('hello');
    await session.settled();
    await session.approve('call_1_0');
    expect(await end(session)).toEqual(['paid', 'paid']);
    expect(seen).toEqual(['{"amount":5}', '{"amount":5}', '{"amount":6}']);
    expect(transcript(session.messages)[1]).toBe('assistant: greedy{"amount":5} | greedy{"amount":6}');
  });

  test('R29/M44: an approval for arguments of a person’s own is an edit: checked, bound to the call, run once', async () => {
    const { tool: payTool, inputs } = pay();
    const { session } = await waiting([calls(call('pay', { amount: 5 })), 'world'], payTool);
    const edit = { amount: 6 };
    const approved = session.approve('call_1_0', { input: edit });
    edit.amount = 600;
    await approved;
    expect(await end(session)).toEqual(['paid 6']);
    expect(inputs).toEqual([6]);
  });

  test('R29/M44: a session that was read from text is authority enough for a decision', async () => {
    const { tool: payTool, inputs } = pay();
    const { session, model } = await waiting([calls(call('pay', { amount: 5 })), 'world'], payTool);
    const other = createAgent({ model, tools: [payTool] }).restore(JSON.stringify(session.toJSON()));
    await other.approve('call_1_0', { inputHash: other.pending[0]?.inputHash ?? '' });
    expect(await end(other)).toEqual(['paid 5']);
    expect(inputs).toEqual([5]);
  });
});

describe('forks', () => {
  test('R27/LC105: sessions restored from one document go their own ways, and each asks again', async () => {
    const a = gated('a');
    const { agent, session } = await waiting([calls(call('a')), 'one', 'two'], a.tool);
    const document = JSON.stringify(session.toJSON());
    const [left, right] = [agent.restore(document), agent.restore(document)];
    expect([left, right].map(({ pending }) => pending.length)).toEqual([1, 1]);
    await left.approve('call_1_0');
    await left.settled();
    expect(right.pending).toHaveLength(1);
    await right.reject('call_1_0');
    await right.settled();
    expect(transcript(left.messages).slice(2)).toEqual(['tool: a ran', 'assistant: one']);
    expect(transcript(right.messages).slice(2)).toEqual([`tool: ${rejected}`, 'assistant: two']);
    expect(JSON.stringify(session.toJSON())).toBe(document);
    for (const { messages } of [left, right]) expectWhole(messages);
  });

  test('R32/LC33, LC56: an agent in a call that waits for people is no error of the call; a decision at the root reaches it', async () => {
    const a = gated('a');
    const inner = createAgent({ model: scriptedModel([calls(call('a')), 'inner world']), tools: [a.tool] });
    const helper = inner.asTool({ name: 'helper', description: 'Helps' });
    const { session } = await waiting(
      [calls(call('helper', { prompt: 'Help.' }), call('outside')), 'world'],
      helper,
      outsideTool('outside'),
    );
    const nested = session.pending.find(({ tool: name }) => name === 'a');
    expect(nested).toMatchObject({ path: ['call_1_0'], needs: 'approval' });
    await session.approve(nested?.callId ?? '');
    await session.respond('call_1_1', 'by hand');
    expect(await end(session)).toEqual(['inner world', 'by hand']);
    expect(a.inputs).toEqual([{}]);
  });
});
