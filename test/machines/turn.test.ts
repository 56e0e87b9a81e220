import { expect, test } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { z } from 'zod';
import { type AssistantMessage, textOf } from '../../src/messages/message.ts';
import type { ModelReply } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { deepFreeze } from '../messages/arbitrary-history.ts';
import { inBothModes } from '../support/run.ts';
import { F1, F2, V, call, calls, success, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const replyOf = (
  content: AssistantMessage['content'],
  finishReason: ModelReply['finishReason'] = 'stop',
): ModelReply => ({
  message: { role: 'assistant', content },
  finishReason,
});

inBothModes('a turn', (run) => {
  test('R3/LC1: a reply without calls ends the turn after one model call, and no actor is spawned', async () => {
    const model = scriptedModel(['world']);
    const { result, session } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(result.outcome).toEqual({ type: 'answered' });
    expect(result.text).toBe('world');
    expect(result.iterations).toBe(0);
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: world']);
    expect(Object.keys(session.actor.getSnapshot().children)).toEqual(['wake']);
    model.assertFinished();
  });

  test('R4/L04: three rounds of one call each, then text: eight messages', async () => {
    const model = scriptedModel([
      calls(call('F1')),
      calls(call('F2', { i: 42 })),
      calls(call('V', { i: 43 })),
      'world',
    ]);
    const { result } = await run(createAgent({ model, tools: [F1, F2, V] }), 'hello');
    expect(transcript(result.messages)).toEqual([
      'user: hello',
      'assistant: F1{}',
      'tool: Result 1',
      'assistant: F2{"i":42}',
      'tool: Result 2: 42',
      'assistant: V{"i":43}',
      `tool: ${success}`,
      'assistant: world',
    ]);
    expect(result.iterations).toBe(3);
    model.assertFinished();
  });

  test('R4/L05: tools that are not advertised run all the same', async () => {
    const model = scriptedModel([calls(call('F1')), calls(call('F2', { i: 42 })), 'world']);
    const { result } = await run(createAgent({ model, extraTools: [F1, F2] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 1', 'Result 2: 42']);
    expect(model.requests.every(({ tools }) => tools === undefined)).toBe(true);
    model.assertFinished();
  });

  test('R4/L07: of a name in both lists the advertised tool runs', async () => {
    const other = toolOf('F1', () => 'the wrong one');
    const model = scriptedModel([calls(call('F1'), call('F2', { i: 1 })), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1], extraTools: [other, F2] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 1', 'Result 2: 1']);
  });

  test.each([1, 8])(
    'R6/L08: one tool message per round, results in call order, concurrency %i',
    async (concurrency) => {
      const model = scriptedModel([
        calls(call('F1'), call('F2', { i: 34 }), call('F2', { i: 56 })),
        calls(call('F2', { i: 78 }), call('F1')),
        'world',
      ]);
      const { result } = await run(createAgent({ model, tools: [F1, F2], concurrency }), 'hello');
      expect(transcript(result.messages)).toEqual([
        'user: hello',
        'assistant: F1{} | F2{"i":34} | F2{"i":56}',
        'tool: Result 1 | Result 2: 34 | Result 2: 56',
        'assistant: F2{"i":78} | F1{}',
        'tool: Result 2: 78 | Result 1',
        'assistant: world',
      ]);
      model.assertFinished();
    },
  );

  test('R6/L25: text around calls stays where it was', async () => {
    const reply = replyOf([
      { type: 'text', text: 'First.' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'F1', input: {} },
      { type: 'text', text: 'Then.' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'F1', input: {} },
    ]);
    const model = scriptedModel([reply, 'world']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(transcript(result.messages)[1]).toBe('assistant: First. | F1{} | Then. | F1{}');
  });

  test.each(['stop', 'other', 'tool-calls'] as const)(
    'R5/B21: calls decide, not the finish reason %s',
    async (finishReason) => {
      const model = scriptedModel([{ ...calls(call('F1')), text: 'Let me look.', finishReason }, 'world']);
      const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
      expect(results(result.messages)).toEqual(['Result 1']);
      model.assertFinished();
    },
  );

  test('R5: a finish reason of calls without calls is an answer', async () => {
    const model = scriptedModel([{ text: 'world', finishReason: 'tool-calls' }]);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(result.outcome.type).toBe('answered');
    model.assertFinished();
  });

  test.each([
    ['length', 'reached its length limit'],
    ['content-filter', 'was cut off by a content filter'],
  ] as const)(
    'R5: no call of a reply that ended by %s is run; each gets an error that says why',
    async (finishReason, why) => {
      let runs = 0;
      const counted = toolOf('counted', () => (runs += 1));
      const model = scriptedModel([{ ...calls(call('counted'), call('counted', { i: 1 })), finishReason }, 'world']);
      const { result } = await run(createAgent({ model, tools: [counted] }), 'hello');
      expect(runs).toBe(0);
      expect(results(result.messages)).toHaveLength(2);
      for (const text of results(result.messages)) expect(text).toContain(why);
      expect(result.outcome.type).toBe('answered');
    },
  );

  test('R8/B50: the same provider id with other arguments is two calls with ids of ours; the provider reads distinct ids', async () => {
    const model = scriptedModel([calls(call('F2', { i: 1 }, 'edit:22'), call('F2', { i: 2 }, 'edit:22')), 'world']);
    const { result } = await run(createAgent({ model, tools: [F2] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 2: 1', 'Result 2: 2']);
    const sent = model.requests[1]?.messages[1];
    const ids = sent?.role === 'assistant' && typeof sent.content !== 'string' ? sent.content : [];
    expect(ids.map((part) => (part.type === 'tool-call' ? part.toolCallId : ''))).toEqual(['edit:22', 'edit:22_2']);
  });

  test('R8: the same call twice under one provider id runs once', async () => {
    const model = scriptedModel([calls(call('F2', { i: 1 }, 'x'), call('F2', { i: 1 }, 'x')), 'world']);
    const { result } = await run(createAgent({ model, tools: [F2] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 2: 1']);
  });

  test('R8: calls without a provider id are all of them calls', async () => {
    const model = scriptedModel([calls(call('F1'), call('F1')), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 1', 'Result 1']);
  });

  test('R8/B51: a provider id that comes again in a later round names another call', async () => {
    const model = scriptedModel([
      calls(call('F2', { i: 1 }, 'call_0')),
      calls(call('F2', { i: 2 }, 'call_0')),
      'world',
      'again',
    ]);
    const agent = createAgent({ model, tools: [F2] });
    const { result, session } = await run(agent, 'hello');
    expect(results(result.messages)).toEqual(['Result 2: 1', 'Result 2: 2']);
    await run(agent, 'more', { session });
    expect(transcript(model.requests.at(-1)?.messages ?? [])).toHaveLength(7);
    model.assertFinished();
  });

  test('R9/L72: a call that the provider ran is shown, not run', async () => {
    let runs = 0;
    const search = toolOf('search', () => (runs += 1));
    const reply = replyOf([
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: {}, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', output: { type: 'text', value: 'found' } },
      { type: 'text', text: 'world' },
    ]);
    const model = scriptedModel([reply]);
    const { result } = await run(createAgent({ model, tools: [search] }), 'hello');
    expect(runs).toBe(0);
    expect(result.text).toBe('world');
    expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: search{} | found | world']);
    model.assertFinished();
  });

  test('R8, R9: a provider that numbers its own calls afresh in every reply leaves a whole history', async () => {
    const searched = (text: string): ModelReply =>
      replyOf([
        { type: 'tool-call', toolCallId: 'call_1_0', toolName: 'search', input: {}, providerExecuted: true },
        { type: 'tool-result', toolCallId: 'call_1_0', toolName: 'search', output: { type: 'text', value: 'found' } },
        { type: 'tool-call', toolCallId: 'f', toolName: 'F1', input: {} },
        { type: 'text', text },
      ]);
    const model = scriptedModel([searched('a'), searched('b'), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 1', 'Result 1']);
    model.assertFinished();
  });

  test('R9: a result that the provider gives in a later reply goes to its call; one without a call is left out', async () => {
    const model = scriptedModel([
      replyOf([
        { type: 'tool-call', toolCallId: 's', toolName: 'search', input: {}, providerExecuted: true },
        { type: 'tool-call', toolCallId: 'f', toolName: 'F1', input: {} },
      ]),
      replyOf([
        { type: 'tool-result', toolCallId: 's', toolName: 'search', output: { type: 'text', value: 'found' } },
        { type: 'tool-result', toolCallId: 'x', toolName: 'search', output: { type: 'text', value: 'lost' } },
        { type: 'text', text: 'world' },
      ]),
      'two',
    ]);
    const agent = createAgent({ model, tools: [F1] });
    const { session, result } = await run(agent, 'hello');
    expect(transcript(result.messages)).toEqual([
      'user: hello',
      'assistant: search{} | F1{}',
      'tool: Result 1',
      'assistant: found | world',
    ]);
    await run(agent, 'more', { session });
    const sent = model.requests[2]?.messages ?? [];
    expect(sent[1]).toMatchObject({ content: [{ toolCallId: 's' }, { toolCallId: 'f' }] });
    expect(sent[3]).toMatchObject({ content: [{ toolCallId: 's' }, { type: 'text' }] });
    model.assertFinished();
  });

  test('R9/L74: a call without a result of the provider runs here', async () => {
    const reply = replyOf([
      { type: 'tool-call', toolCallId: 's', toolName: 'F1', input: {} },
      { type: 'tool-call', toolCallId: 't', toolName: 'F2', input: { i: 1 }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 't', toolName: 'F2', output: { type: 'text', value: 'theirs' } },
    ]);
    const model = scriptedModel([reply, 'world']);
    const { result } = await run(createAgent({ model, tools: [F1, F2] }), 'hello');
    expect(results(result.messages)).toEqual(['Result 1']);
    model.assertFinished();
  });

  test.each(['required', { tool: 'F1' }] as const)(
    'R10/D01: a forced tool choice holds for the first model call of a turn only',
    async (toolChoice) => {
      const model = scriptedModel([calls(call('F1')), 'world', calls(call('F1')), 'again']);
      const agent = createAgent({ model, tools: [F1], toolChoice });
      const { session } = await run(agent, 'hello');
      await run(agent, 'more', { session });
      expect(model.requests.map((request) => request.toolChoice)).toEqual([
        toolChoice,
        undefined,
        toolChoice,
        undefined,
      ]);
      model.assertFinished();
    },
  );

  test.each(['auto', 'none'] as const)('R10/D03: the tool choice %s holds for every model call', async (toolChoice) => {
    const model = scriptedModel([calls(call('F1')), 'world']);
    await run(createAgent({ model, tools: [F1], toolChoice }), 'hello');
    expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, toolChoice]);
  });

  test('R10: the tool choice of one run beats that of the agent', async () => {
    const model = scriptedModel(['world']);
    await run(createAgent({ model, tools: [F1], toolChoice: 'auto' }), 'hello', { toolChoice: 'none' });
    expect(model.requests[0]?.toolChoice).toBe('none');
  });

  test('R11/D16: a tool that ends the turn: the siblings settle, the model is not asked again', async () => {
    const last = toolOf('last', (_, ctx) => {
      ctx.endTurn();
      return 'over';
    });
    const model = scriptedModel([calls(call('last'), call('F1'))]);
    const { result } = await run(createAgent({ model, tools: [last, F1] }), 'hello');
    expect(result.outcome).toEqual({ type: 'answered' });
    expect(results(result.messages)).toEqual(['over', 'Result 1']);
    model.assertFinished();
  });

  test('R11/D18: a tool that asks to end the turn and then throws does not end it', async () => {
    const last = toolOf('last', (_, ctx) => {
      ctx.endTurn();
      throw new Error('Oh no!');
    });
    const model = scriptedModel([calls(call('last')), 'world']);
    const { result } = await run(createAgent({ model, tools: [last] }), 'hello');
    expect(result.text).toBe('world');
    model.assertFinished();
  });

  test.each([0, 1])('R11/LC18: a tool that returns directly gives the answer, wherever it stands (%i)', async (at) => {
    const direct = toolOf('direct', () => 'the answer', { returnDirect: true });
    const round = [call('F1'), call('F1', { i: 1 })].toSpliced(at, 0, call('direct'));
    const model = scriptedModel([calls(...round)]);
    const { result } = await run(createAgent({ model, tools: [direct, F1] }), 'hello');
    expect(result.text).toBe('the answer');
    expect(result.outcome).toEqual({ type: 'answered', callId: `call_1_${at}` });
    model.assertFinished();
  });

  test('R11/LC20: a failed call of a tool that returns directly goes back to the model', async () => {
    const direct = toolOf('direct', () => new Error('Oh no!'), { returnDirect: true });
    const model = scriptedModel([calls(call('direct')), 'world']);
    const { result } = await run(createAgent({ model, tools: [direct] }), 'hello');
    expect(result.text).toBe('world');
    model.assertFinished();
  });

  test('R14/B53: without tools no `tools` field is sent', async () => {
    const model = scriptedModel(['world']);
    await run(createAgent({ model, tools: [], toolChoice: 'required' }), 'hello');
    expect(Object.keys(model.requests[0] ?? {})).toEqual(['messages']);
  });

  test('R2: nothing that the caller gives is changed', async () => {
    const messages = deepFreeze([
      { role: 'system' as const, content: 'Be short.' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] },
    ]);
    const tools = Object.freeze([F1]);
    const limits = deepFreeze({ maxIterations: 2 });
    const model = scriptedModel([calls(call('F1')), 'world']);
    const { result } = await run(createAgent(Object.freeze({ model, tools, limits })), messages, { limits });
    expect(transcript(result.messages).slice(0, 2)).toEqual(['system: Be short.', 'user: hello']);
    expect(result.messages[1]).not.toBe(messages[1]);
  });

  test('R2/LC2: instructions are sent and not stored; a function of the turn may give them', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([calls(call('F1')), 'world']);
    const agent = createAgent({
      model,
      tools: [F1],
      instructions: ({ iteration, context }) => {
        seen.push(context);
        return `Step ${iteration}`;
      },
    });
    const context = { live: new Map() };
    const { session } = await run(agent, 'hello', { context });
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(['Step 1', 'Step 2']);
    expect(seen).toEqual([context, context]);
    expect(seen[0]).toBe(context);
    expect(session.messages.some(({ role }) => role === 'system')).toBe(false);
  });
});

test('R2: many sessions of one agent run at once and do not see each other', async () => {
  const echo = tool({ name: 'echo', inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => `echo ${n}` });
  const answers = new Map<string, number>();
  const model = scriptedModel(
    Array.from({ length: 100 }, () => ({ messages }) => {
      const first = messages[0] === undefined ? '' : textOf(messages[0]);
      const step = answers.get(first) ?? 0;
      answers.set(first, step + 1);
      return step === 0 ? calls(call('echo', { n: Number(first) })) : `answer ${first}`;
    }),
  );
  const agent = createAgent({ model, tools: [echo] });
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) => agent.run(String(index))));
  all.forEach((result, index) => {
    expect(results(result.messages)).toEqual([`echo ${index}`]);
    expect(result.text).toBe(`answer ${index}`);
  });
  expect(new Set(all.map(({ sessionId }) => sessionId)).size).toBe(50);
  model.assertFinished();
});

test('R34: after a failed turn an event that says nothing begins no turn', async () => {
  const model = scriptedModel([new Error('down'), 'up']);
  const actor = createActor(createAgent({ model }).machine, { input: { message: 'hi' } }).start();
  await waitFor(actor, (snapshot) => snapshot.matches({ done: 'failed' }));
  actor.send({ type: 'user.message', content: '' });
  expect(actor.getSnapshot().matches({ done: 'failed' })).toBe(true);
  actor.send({ type: 'user.message', content: 'again' });
  expect((await waitFor(actor, (snapshot) => snapshot.matches({ done: 'answered' }))).context.turn.number).toBe(2);
  model.assertFinished();
});
