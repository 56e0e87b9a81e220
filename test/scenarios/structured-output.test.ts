import { type } from 'arktype';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { tool } from '../../src/tools/tool.ts';
import { inBothModes } from '../support/run.ts';
import { F1, call, calls, toolOf } from '../support/tools.ts';
import { results } from '../support/transcript.ts';
import { scriptedModel } from './script.ts';

const city = z.object({ city: z.string() });
const answer = (input: unknown) => call('final_answer', input);

inBothModes('structured answers', (run) => {
  test('LC71: without help of the provider a tool of ours takes the answer; other tools run before', async () => {
    const model = scriptedModel([calls(call('F1')), calls(answer({ city: 'Suzhou' }))]);
    const agent = createAgent({ model, tools: [F1], output: city });
    const { result } = await run(agent, 'hello');
    expect(result.output).toEqual({ city: 'Suzhou' });
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['F1', 'final_answer']);
    expect(results(result.messages)[0]).toBe('Result 1');
  });

  test('LC71: one of several forms', async () => {
    const output = z.object({
      answer: z.union([z.object({ kind: z.literal('city'), city: z.string() }), z.object({ kind: z.literal('none') })]),
    });
    const model = scriptedModel([calls(answer({ answer: { kind: 'none' } }))]);
    const { result } = await run(createAgent({ model, output }), 'hello');
    expect(result.output).toEqual({ answer: { kind: 'none' } });
  });

  test('R17/LC72: an answer that does not fit goes back with what is wrong, and the model mends it', async () => {
    const model = scriptedModel([calls(answer({ city: 7 })), calls(answer({ city: 'Suzhou' }))]);
    const { result } = await run(createAgent({ model, output: city }), 'hello');
    expect(results(result.messages)[0]).toContain('city');
    expect(result.output).toEqual({ city: 'Suzhou' });
  });

  test('R6, R20/LC72: an agent that allows no error fails with the answer that did not fit', async () => {
    const model = scriptedModel([calls(answer({ city: 7 }))]);
    const { error } = await run(createAgent({ model, output: city, limits: { maxConsecutiveErrors: 0 } }), 'hello');
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toContain('city');
  });

  test('R6/LC72: two answers in one reply: the first that fits is the answer, and both calls have a result', async () => {
    const model = scriptedModel([calls(answer({ city: 7 }), answer({ city: 'Suzhou' }), answer({ city: 'Wuxi' }))]);
    const { result } = await run(createAgent({ model, output: city }), 'hello');
    expect(result.output).toEqual({ city: 'Suzhou' });
    expect(results(result.messages)).toHaveLength(3);
  });

  describe.each([true, false])('canOutput %s', (canOutput) => {
    test('LC74: what the model can do decides how it is held to the schema', async () => {
      const text = JSON.stringify({ city: 'Suzhou' });
      const model = { ...scriptedModel([canOutput ? text : calls(answer({ city: 'Suzhou' }))]), canOutput };
      const { result } = await run(createAgent({ model, output: city }), 'hello');
      expect(result.output).toEqual({ city: 'Suzhou' });
      const [request] = model.requests;
      expect(request?.output?.schema).toEqual(canOutput ? expect.objectContaining({ type: 'object' }) : undefined);
      expect(request?.tools?.map(({ name }) => name)).toEqual(canOutput ? undefined : ['final_answer']);
    });

    test('R11/LC18: a tool that returns directly gives the answer; then there is no structured one', async () => {
      const direct = toolOf('direct', () => 'done', { returnDirect: true });
      const model = { ...scriptedModel([calls(call('direct'))]), canOutput };
      const { result } = await run(createAgent({ model, tools: [direct], output: city }), 'hello');
      expect(result.text).toBe('done');
      expect(result).not.toHaveProperty('output');
    });
  });

  test('LC75: a schema of another library holds for tools and for the answer', async () => {
    const seen: unknown[] = [];
    const look = tool({
      name: 'look',
      inputSchema: type({ city: 'string' }),
      execute: (input) => {
        seen.push(input.city);
        return 'sunny';
      },
    });
    const model = scriptedModel([
      calls(call('look', { city: 7 })),
      calls(call('look', { city: 'Suzhou' })),
      calls(answer({ weather: 'sunny' })),
    ]);
    const { result } = await run(createAgent({ model, tools: [look], output: type({ weather: 'string' }) }), 'hello');
    expect(results(result.messages)[0]).toContain('city');
    expect(seen).toEqual(['Suzhou']);
    expect(result.output).toEqual({ weather: 'sunny' });
  });
});
