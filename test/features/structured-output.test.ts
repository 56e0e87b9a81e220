import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ModelError } from '../../src/models/model-error.ts';
import type { ChatModel } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import type { RunResult } from '../../src/sessions/session.ts';
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';
import { provider } from '../support/provider.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const output = z.object({ city: z.string(), degrees: z.number() });
const suzhou = { city: 'Suzhou', degrees: 21 };
const answer = (input: unknown = suzhou) => call('final_answer', input);
const givenAnswer = (input?: unknown): ScriptedAnswer => calls(answer(input));
const asText = (value: unknown): string => JSON.stringify(value);

/** A model whose provider can be held to a schema. */
const held = (answers: readonly ScriptedAnswer[]): ScriptedModel & ChatModel => ({
  ...scriptedModel(answers),
  canOutput: true,
});

const agentOf = (model: ChatModel, options: Partial<AgentOptions> = {}) =>
  createAgent({ tools: [F1], ...options, model, output });

inBothModes('the answer by a tool', (run) => {
  test('the model is given a tool for it and has to call some tool; what it gives is the output, and nobody is asked again', async () => {
    const model = scriptedModel([calls(call('F1')), givenAnswer()]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(result.outcome).toEqual({ type: 'answered', callId: 'call_2_0' });
    expect(JSON.parse(result.text)).toEqual(suzhou);
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'required']);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['F1', 'final_answer']);
    expect(model.requests[0]?.tools?.[1]?.inputSchema).toMatchObject({ type: 'object', required: ['city', 'degrees'] });
    expect(model.requests[0]).not.toHaveProperty('output');
    model.assertFinished();
  });

  test('what does not fit is told by field, and the next one counts', async () => {
    const model = scriptedModel([
      givenAnswer({ city: 'Suzhou' }),
      givenAnswer({ city: 3, degrees: 'x' }),
      givenAnswer(),
    ]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(results(result.messages)[0]).toContain('- degrees: ');
    expect(results(result.messages)[1]).toContain('- city: ');
    expect(result.iterations).toBe(3);
  });

  test('a model that never gets it right ends at the error limit; all that it said is there', async () => {
    const wrong = givenAnswer({ city: 'Suzhou' });
    const model = scriptedModel([wrong, wrong, wrong]);
    const { error, session } = await run(agentOf(model, { limits: { maxConsecutiveErrors: 2 } }), 'go');
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toMatch(
      /^3 rounds in a row had errors, and limits.maxConsecutiveErrors is 2; the last: final_answer: /,
    );
    expect(error?.result.outcome).toMatchObject({ errors: [{ tool: 'final_answer', callId: 'call_3_0' }] });
    expect(error?.result.output).toBeUndefined();
    expect(session.messages).toHaveLength(7);
    model.assertFinished();
  });

  test('R20: texts that never fit count as failing rounds; the error names field and problem of the last', async () => {
    const model = scriptedModel([asText({ city: 'Suzhou' }), asText({ city: 3, degrees: 4 })]);
    const { error, result, session } = await run(agentOf(model, { limits: { maxConsecutiveErrors: 1 } }), 'go');
    const problem = expect.stringMatching(/^city: .*string/);
    expect(error).toMatchObject({
      code: 'error-limit',
      message: expect.stringMatching(
        /^2 rounds in a row .*; the last: the answer did not fit its schema: city: .*string/,
      ),
      cause: { cause: { name: 'UnfitAnswer', message: problem } },
    });
    expect(result.iterations).toBe(2);
    const { turn } = createAgent({ model, output }).restore(session.toJSON()).actor.getSnapshot().context;
    expect(turn.outcome).toEqual(result.outcome);
    model.assertFinished();
  });

  test('a text in place of the tool is answered with how to do it; a text that is the answer is taken', async () => {
    const model = scriptedModel(['It is warm.', givenAnswer()]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(transcript(result.messages)[1]).toBe('assistant: It is warm.');
    expect(transcript(result.messages)[2]).toMatch(/^user: The answer does not have the form.*final_answer/s);
    const plain = await run(agentOf(scriptedModel([asText(suzhou)])), 'go');
    expect(plain.result.output).toEqual(suzhou);
    expect(plain.result.outcome).toEqual({ type: 'answered' });
  });

  test('a text that never is the answer ends at the error limit, and says what was wrong', async () => {
    const model = scriptedModel(['a', 'b', 'c']);
    const { error } = await run(agentOf(model, { limits: { maxConsecutiveErrors: 2 } }), 'go');
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toContain('schema');
    model.assertFinished();
  });

  test.each([
    ['after', [call('F1'), answer()], 1],
    ['before', [answer(), call('F1')], 0],
  ])('an ordinary call %s the answer in one reply runs too', async (_, round, at) => {
    const model = scriptedModel([calls(...round)]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(result.outcome).toEqual({ type: 'answered', callId: `call_1_${at}` });
    expect(results(result.messages)).toHaveLength(2);
    expect(results(result.messages)).toContain('Result 1');
    model.assertFinished();
  });

  test('a call that fails beside the answer does not take it away', async () => {
    const bad = toolOf('bad', () => {
      throw new Error('no');
    });
    const model = scriptedModel([calls(call('bad'), answer())]);
    const agent = agentOf(model, { tools: [bad], limits: { maxConsecutiveErrors: 1 } });
    expect((await run(agent, 'go')).result.output).toEqual(suzhou);
  });

  test('two answers in one reply: the first that fits is the output', async () => {
    const rome = { city: 'Rome', degrees: 30 };
    const two = await run(agentOf(scriptedModel([calls(answer(), answer(rome))])), 'go');
    expect(two.result.output).toEqual(suzhou);
    const unfit = await run(agentOf(scriptedModel([calls(answer({ city: 1 }), answer(rome))])), 'go');
    expect(unfit.result.output).toEqual(rome);
    expect(results(unfit.result.messages)).toHaveLength(2);
  });

  test('a tool that returns directly beside the answer: the answer is the output', async () => {
    const direct = toolOf('direct', () => 'direct', { returnDirect: true });
    const { result } = await run(agentOf(scriptedModel([calls(call('direct'), answer())]), { tools: [direct] }), 'go');
    expect(result.output).toEqual(suzhou);
    expect(JSON.parse(result.text)).toEqual(suzhou);
  });

  test('at the iteration limit the model may give the answer and nothing else', async () => {
    const model = scriptedModel([calls(call('F1')), calls(call('F1', { n: 2 }), answer())]);
    const { result } = await run(agentOf(model, { limits: { maxIterations: 1 } }), 'go');
    expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(['final_answer']);
    expect(model.requests[1]?.toolChoice).toEqual({ tool: 'final_answer' });
    expect(result.output).toEqual(suzhou);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations', callId: 'call_2_1' });
    expect(results(result.messages)[1]).toMatch(/not run: the turn reached its limit/);
    model.assertFinished();
  });

  test.each([
    ['an answer that does not fit', givenAnswer({ city: 'Suzhou' }), 5],
    ['a text', 'It is warm.', 4],
    ['other calls alone', calls(call('F1', { n: 2 })), 5],
    ['nothing', '', 3],
  ])('at the iteration limit %s ends the turn without an output; nothing is thrown away', async (_, last, count) => {
    const model = scriptedModel([calls(call('F1')), last]);
    const { result, session } = await run(agentOf(model, { limits: { maxIterations: 1 } }), 'go');
    expect(result.outcome).toMatchObject({ type: 'limit', limit: 'maxIterations' });
    expect(result.output).toBeUndefined();
    expect(session.messages).toHaveLength(count);
    model.assertFinished();
  });

  test('a text that is the answer counts at the iteration limit as well', async () => {
    const model = scriptedModel([calls(call('F1')), asText(suzhou)]);
    const { result } = await run(agentOf(model, { limits: { maxIterations: 1 } }), 'go');
    expect(result.output).toEqual(suzhou);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
  });

  test('a policy for the tools of the application is not asked about the answer', async () => {
    const asked: string[] = [];
    const model = scriptedModel([calls(call('F1'), answer())]);
    const agent = agentOf(model, {
      approvals: {
        policy: ({ tool }) => {
          asked.push(tool);
          return 'ask';
        },
      },
    });
    const { result, session } = await run(agent, 'go');
    expect(asked).toEqual(['F1']);
    expect(result.pending.map(({ tool }) => tool)).toEqual(['F1']);
    await session.approve('call_1_0');
    expect((await session.settled()).output).toEqual(suzhou);
  });

  test('the tool choice of the caller holds', async () => {
    const model = scriptedModel([calls(call('F1')), givenAnswer()]);
    await run(agentOf(model, { toolChoice: { tool: 'F1' } }), 'go');
    expect(model.requests[0]?.toolChoice).toEqual({ tool: 'F1' });
  });

  test('the next turn gives its own answer, and an agent without tools of its own gives one too', async () => {
    const rome = { city: 'Rome', degrees: 30 };
    const model = scriptedModel([givenAnswer(), givenAnswer(rome)]);
    const agent = agentOf(model, { tools: [] });
    const { session } = await run(agent, 'a');
    expect((await run(agent, 'b', { session })).result.output).toEqual(rome);
  });

  test('with openaiChat: one strict server, an answer by a call', async () => {
    const said = { id: 'c1', name: 'final_answer', args: asText(suzhou) };
    await using from = await provider([{ calls: [{ id: 'c0', name: 'F1' }] }, { calls: [said] }, 'more']);
    const agent = agentOf({ ...from.model, canOutput: false });
    const { result, session } = await run(agent, 'go');
    expect(result.output).toEqual(suzhou);
    expect(from.server.requests[0]?.body['tool_choice']).toBe('required');
    await run(createAgent({ model: from.model }), 'more', { session: saved(session) });
    expect(from.sent(2).filter(({ role }) => role === 'tool')).toHaveLength(2);
  });
});

inBothModes('the answer of a provider that is held to the schema', (run) => {
  test('the schema goes with every request, no tool is added, and the text is the output', async () => {
    const model = held([calls(call('F1')), asText(suzhou)]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(result.text).toBe(asText(suzhou));
    expect(result.outcome).toEqual({ type: 'answered' });
    for (const request of model.requests) {
      expect(request.output).toMatchObject({ name: 'final_answer', schema: { type: 'object' } });
      expect(request.tools?.map(({ name }) => name)).toEqual(['F1']);
      expect(request).not.toHaveProperty('toolChoice');
    }
  });

  test('what does not fit is told and asked for again, within the limits', async () => {
    const model = held(['no JSON', asText({ city: 'Suzhou' }), asText(suzhou)]);
    const { result } = await run(agentOf(model), 'go');
    expect(result.output).toEqual(suzhou);
    expect(transcript(result.messages)[4]).toMatch(/- degrees: /);
    expect(transcript(result.messages)[4]).not.toContain('final_answer');
    const never = held(['a', 'b', 'c', 'd']);
    const { error } = await run(agentOf(never), 'go');
    expect(error?.code).toBe('error-limit');
    expect(never.requests).toHaveLength(4);
  });

  test('at the iteration limit the last call still has the schema', async () => {
    const model = held([calls(call('F1')), asText(suzhou)]);
    const { result } = await run(agentOf(model, { limits: { maxIterations: 1 } }), 'go');
    expect(model.requests[1]).not.toHaveProperty('tools');
    expect(model.requests[1]?.output).toBeDefined();
    expect(result.output).toEqual(suzhou);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
  });

  test('texts that do not fit count as rounds: at the iteration limit there is one last call', async () => {
    const model = held(['a', 'b', asText({ city: 1 })]);
    const limits = { maxIterations: 2, maxConsecutiveErrors: 9 };
    const { result } = await run(agentOf(model, { limits }), 'go');
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(result.output).toBeUndefined();
    expect(result.text).toBe('{"city":1}');
    model.assertFinished();
  });

  test('a refusal is a refusal, nothing is nothing', async () => {
    const refused = await run(agentOf(held([{ refusal: 'I will not.' }])), 'go');
    expect(refused.result.outcome).toEqual({ type: 'refused', reason: 'I will not.' });
    const { error } = await run(agentOf(held(['', ''])), 'go');
    expect(error?.code).toBe('empty-reply');
  });

  test('where a fallback model cannot be held to it, all of them give it by the tool', async () => {
    const fallback = scriptedModel([givenAnswer()]);
    const first = held([new ModelError('model-request-failed', 'down', { transient: true })]);
    const { result } = await run(agentOf(first, { fallback: [fallback], retry: { attempts: 1 } }), 'go');
    expect(result.output).toEqual(suzhou);
    for (const { requests } of [first, fallback]) {
      expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(['F1', 'final_answer']);
      expect(requests[0]).not.toHaveProperty('output');
    }
  });

  test('with openaiChat the schema is in the body', async () => {
    await using from = await provider([asText(suzhou)]);
    const { result } = await run(agentOf({ ...from.model, canOutput: true }), 'go');
    expect(result.output).toEqual(suzhou);
    expect(from.server.requests[0]?.body['response_format']).toMatchObject({ type: 'json_schema' });
  });
});

describe('the output', () => {
  test('is what the schema makes of the answer; the session keeps what the model said', async () => {
    const dated = z.object({ on: z.iso.date().transform((text) => new Date(text)), n: z.number().default(7) });
    // A transform has no JSON form as output; as input it has.
    const agent = createAgent({
      model: scriptedModel([calls(call('final_answer', { on: '2024-01-02' }))]),
      output: dated,
    });
    const { output: given, sessionId } = await agent.run('go');
    expect(given).toEqual({ on: new Date('2024-01-02'), n: 7 });
    const later = reopened(agent, await agent.open(sessionId));
    expect((await later.settled()).output).toEqual({ on: new Date('2024-01-02'), n: 7 });
    expect(transcript(later.messages)[1]).toBe('assistant: final_answer{"on":"2024-01-02"}');
    expectWhole(later.messages);
  });

  test('has the type of its schema, for `run`, `stream`, `settled`; without a schema it is not known', () => {
    const agent = createAgent({ model: scriptedModel([]), output });
    type Answer = z.infer<typeof output>;
    expectTypeOf(agent.run).returns.resolves.toEqualTypeOf<RunResult<Answer>>();
    expectTypeOf(agent.stream).returns.toHaveProperty('result').toEqualTypeOf<Promise<RunResult<Answer>>>();
    expectTypeOf<Awaited<ReturnType<typeof agent.run>>['output']>().toEqualTypeOf<Answer | undefined>();
    const session = agent.open();
    expectTypeOf<Awaited<ReturnType<Awaited<typeof session>['settled']>>['output']>().toEqualTypeOf<
      Answer | undefined
    >();
    const plain = createAgent({ model: scriptedModel([]) });
    expectTypeOf<Awaited<ReturnType<typeof plain.run>>['output']>().toEqualTypeOf<unknown>();
    const dated = createAgent({ model: scriptedModel([]), output: z.object({ n: z.string().transform(Number) }) });
    expectTypeOf<Awaited<ReturnType<typeof dated.run>>['output']>().toEqualTypeOf<{ n: number } | undefined>();
  });

  test('survives a restore before it is given', async () => {
    const gate = toolOf('gate', () => 'open', { needsApproval: true });
    const agent = agentOf(scriptedModel([calls(call('gate')), givenAnswer()]), { tools: [gate] });
    const { sessionId } = await agent.run('go');
    const later = reopened(agent, await agent.open(sessionId));
    await later.approve('call_1_0');
    expect((await resting(later)).output).toEqual(suzhou);
  });

  test('that is still being checked when the turn is stopped is not kept', async () => {
    const checked = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow = output.refine(async () => {
      reached.resolve();
      await checked.promise;
      return true;
    });
    const session = await createAgent({ model: held([asText(suzhou)]), output: slow }).open();
    const fate = session.send('go');
    await reached.promise;
    await session.stop();
    expect(await fate).toEqual({ type: 'delivered' });
    expect(session.actor.getSnapshot().value).toEqual({ done: 'stopped' });
    expect(session.actor.getSnapshot().context.reply).toBeNull();
    checked.resolve();
  });

  test('is not there where the turn was stopped or ended by a tool', async () => {
    const last = toolOf('last', (_, ctx) => ctx.endTurn());
    const result = await agentOf(scriptedModel([calls(call('last'))]), { tools: [last] }).run('go');
    expect(result.outcome).toEqual({ type: 'answered' });
    expect(result).not.toHaveProperty('output');
  });

  test('needs an object at its root, and its tool needs its name', () => {
    expect(() => createAgent({ model: scriptedModel([]), output: z.string() })).toThrow(
      /^option "output" must be an object at its root, found type "string"/,
    );
    const twin = toolOf('final_answer', () => 1);
    expect(() => createAgent({ model: scriptedModel([]), output, tools: [twin] })).toThrow(/final_answer/);
  });

  test('in manual mode the caller gets the call as it is', async () => {
    const result = await agentOf(scriptedModel([givenAnswer()]), { autopilot: false }).run('go');
    expect(result.outcome).toEqual({ type: 'tool-calls' });
    expect(result.messages.at(-1)).toMatchObject({ content: [{ toolName: 'final_answer', input: suzhou }] });
  });
});
