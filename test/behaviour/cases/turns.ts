import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { violations } from '../../../src/messages/violations.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { tool } from '../../../src/tools/tool.ts';
import { rejection } from '../../support/sessions.ts';
import { F1, F2, broken, call, calls, heldTool, toolOf } from '../../support/tools.ts';
import { results, transcript } from '../../support/transcript.ts';
import type { Cases } from '../backend.ts';

export const turns: Cases = (start) => {
  describe('turns', () => {
    test('R3: a question and its answer', async () => {
      const model = scriptedModel([{ text: 'world', usage: { inputTokens: 3, outputTokens: 1 } }]);
      const session = await (await start({ model })).open();
      expect(await session.look()).toEqual({ status: 'idle', pending: [], messages: [] });
      expect(await session.send('hello')).toEqual({ type: 'delivered' });
      const result = await session.settled();
      expect(result).toMatchObject({
        outcome: { type: 'answered' },
        text: 'world',
        pending: [],
        iterations: 0,
        sessionId: session.id,
        usage: { inputTokens: 3, outputTokens: 1 },
      });
      expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: world']);
      const { status, messages } = await session.look();
      expect(status).toBe('settled');
      expect(transcript(messages)).toEqual(['user: hello', 'assistant: world']);
    });

    test('R4: rounds follow one another, and the next turn knows the one before', async () => {
      const model = scriptedModel([calls(call('F1')), calls(call('F2', { i: 42 })), 'world', 'again']);
      const session = await (await start({ model, tools: [F1, F2] })).open();
      await session.send('hello');
      expect((await session.settled()).iterations).toBe(2);
      await session.send('more');
      const { messages, text } = await session.settled();
      expect(text).toBe('again');
      expect(transcript(messages)).toEqual(['user: more', 'assistant: again']);
      expect(transcript(model.requests.at(-1)?.messages ?? [])).toEqual([
        'user: hello',
        'assistant: F1{}',
        'tool: Result 1',
        'assistant: F2{"i":42}',
        'tool: Result 2: 42',
        'assistant: world',
        'user: more',
      ]);
      model.assertFinished();
    });

    test('R6, R7: calls run side by side, and their results stand in the order of the calls', async () => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held'), call('F1'), call('held')), 'world']);
      const session = await (await start({ model, tools: [held.tool, F1] })).open();
      await session.send('hello');
      await held.whenBegun(2);
      const at = (index: number): number => held.begun.findIndex(({ callIndex }) => callIndex === index);
      held.end(at(2), 'third');
      held.end(at(0), 'first');
      const { messages } = await session.settled();
      expect(results(messages)).toEqual(['first', 'Result 1', 'third']);
      expect(new Set(held.begun.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
      expect(held.begun.map(({ sessionId, attempt, callCount }) => ({ sessionId, attempt, callCount }))).toEqual([
        { sessionId: session.id, attempt: 1, callCount: 3 },
        { sessionId: session.id, attempt: 1, callCount: 3 },
      ]);
    });

    test('R7: a sequential tool is a barrier', async () => {
      const order: string[] = [];
      const noted = (name: string, sequential: boolean) =>
        toolOf(
          name,
          async () => {
            order.push(`${name} begins`);
            await new Promise((resolve) => setImmediate(resolve));
            order.push(`${name} ends`);
          },
          { sequential },
        );
      const model = scriptedModel([calls(call('first'), call('alone'), call('last')), 'world']);
      const tools = [noted('first', false), noted('alone', true), noted('last', false)];
      const session = await (await start({ model, tools })).open();
      await session.send('hello');
      await session.settled();
      expect(order).toEqual(['first begins', 'first ends', 'alone begins', 'alone ends', 'last begins', 'last ends']);
    });

    test('R16, R17, R18: what throws, what does not fit and what is unknown is told to the model; the turn goes on', async () => {
      const model = scriptedModel([calls(call('broken'), call('F2', { i: 'x' }), call('nobody'), call('F1')), 'world']);
      const session = await (await start({ model, tools: [F1, F2, broken] })).open();
      await session.send('hello');
      const { messages, text } = await session.settled();
      expect(text).toBe('world');
      expect(results(messages)).toEqual([
        'Error: the tool failed.',
        expect.stringContaining('i'),
        expect.stringContaining('nobody'),
        'Result 1',
      ]);
      expect(violations(messages)).toEqual([]);
    });

    test('R11: a tool ends the turn, or gives the answer', async () => {
      const last = toolOf('last', (_, ctx) => {
        ctx.endTurn();
        return 'enough';
      });
      const direct = toolOf('direct', () => 'the answer', { returnDirect: true });
      const model = scriptedModel([calls(call('last'), call('F1')), calls(call('direct'))]);
      const session = await (await start({ model, tools: [F1, last, direct] })).open();
      await session.send('hello');
      expect(results((await session.settled()).messages)).toEqual(['enough', 'Result 1']);
      await session.send('more');
      expect(await session.settled()).toMatchObject({ outcome: { type: 'answered' }, text: 'the answer' });
      model.assertFinished();
    });

    test('R12: a tool that another one brings by name is there in the next round', async () => {
      const model = scriptedModel([calls(call('bring')), calls(call('F1')), 'world']);
      const bring = toolOf('bring', (_, ctx) => {
        ctx.tools.add('F1');
      });
      const session = await (await start({ model, tools: [bring], extraTools: [F1] })).open();
      await session.send('hello');
      expect(results((await session.settled()).messages).at(-1)).toBe('Result 1');
      expect(model.requests.map(({ tools = [] }) => tools.map(({ name }) => name))).toEqual([
        ['bring'],
        ['bring', 'F1'],
        ['bring', 'F1'],
      ]);
    });

    test('a structured answer is given as its schema gives it', async () => {
      const output = z.object({ day: z.string().transform((day) => day.toUpperCase()) });
      const model = scriptedModel([calls(call('final_answer', { day: 'monday' }))]);
      const session = await (await start({ model, output })).open();
      await session.send('When?');
      expect((await session.settled()).output).toEqual({ day: 'MONDAY' });
    });

    test('R15: what a tool returns keeps its form', async () => {
      const give = (name: string, value: unknown) => toolOf(name, () => value);
      const tools = [
        give('nothing', undefined),
        give('object', { a: [1, null, 'ü'] }),
        give('date', new Date(0)),
        give('map', new Map([['a', 1]])),
        give('big', 12345678901234567890n),
        give('text', '"quoted" \u2028 \u{1F600}'),
      ];
      const model = scriptedModel([calls(...tools.map(({ name }) => call(name))), 'world']);
      const session = await (await start({ model, tools })).open();
      await session.send('hello');
      expect(results((await session.settled()).messages)).toEqual([
        'Success: function completed.',
        '{"a":[1,null,"ü"]}',
        '1970-01-01T00:00:00.000Z',
        '{"a":1}',
        '12345678901234567890',
        '"quoted" \u2028 \u{1F600}',
      ]);
    });

    test('R44: what a provider wrote beside its reply goes back to it', async () => {
      const providerOptions = { scripted: { signature: 'abc' } };
      const content = [
        { type: 'reasoning' as const, text: 'hm', providerOptions },
        { type: 'tool-call' as const, toolCallId: 'theirs', toolName: 'F1', input: {}, providerOptions },
      ];
      const model = scriptedModel([{ message: { role: 'assistant', content }, finishReason: 'tool-calls' }, 'world']);
      const session = await (await start({ model, tools: [F1] })).open();
      await session.send('hello');
      await session.settled();
      const sent = model.requests[1]?.messages.find(({ role }) => role === 'assistant');
      expect(JSON.stringify(sent).match(/"signature":"abc"/g)).toHaveLength(2);
      expect(JSON.stringify(sent)).toContain('theirs');
    });

    test('R45: in manual mode the calls go to the caller, who answers them', async () => {
      const model = scriptedModel([calls(call('F1')), 'world']);
      const session = await (await start({ model, tools: [F1], autopilot: false })).open();
      await session.send('hello');
      const { outcome, messages } = await session.settled();
      expect(outcome).toEqual({ type: 'tool-calls' });
      expect(transcript(messages)).toEqual(['user: hello', 'assistant: F1{}']);
      await session.send({
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1_0', toolName: 'F1', output: { type: 'text', value: 'by hand' } },
        ],
      });
      expect((await session.settled()).text).toBe('world');
      expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe('tool: by hand');
    });

    test('one agent serves many sessions at once, and they know nothing of each other', async () => {
      const inputSchema = z.object({ of: z.string() });
      const echo = tool({ name: 'echo', inputSchema, execute: ({ of }) => `echo ${of}` });
      const answers = Array.from({ length: 16 }, () => async (request: { messages: readonly unknown[] }) => {
        const text = JSON.stringify(request.messages);
        const of = /"hello (\d)"/.exec(text)?.[1] ?? '?';
        return text.includes(`echo ${of}`) ? `answer ${of}` : calls(call('echo', { of }));
      });
      const running = await start({ model: scriptedModel(answers), tools: [echo] });
      const texts = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const session = await running.open();
          await session.send(`hello ${index}`);
          const { text, messages } = await session.settled();
          expect(messages).toHaveLength(4);
          return text;
        }),
      );
      expect(texts).toEqual(Array.from({ length: 8 }, (_, index) => `answer ${index}`));
    });

    test('what is not right is refused where it is given, and changes nothing', async () => {
      const model = scriptedModel([]);
      const session = await (await start({ model })).open();
      expect(await rejection(session.send(''))).toMatchObject({ code: 'invalid-message' });
      expect(await rejection(session.send([]))).toMatchObject({ code: 'invalid-message' });
      expect(await rejection(session.send('hello', { mode: 'later' as never }))).toMatchObject({
        code: 'invalid-option',
      });
      expect(await rejection(session.settled())).toMatchObject({ code: 'session-idle' });
      expect(await rejection(session.retry())).toMatchObject({ code: 'nothing-to-retry' });
      expect(await rejection(session.cancel('call_1_0'))).toMatchObject({ code: 'unknown-call' });
      await session.stop();
      expect(await session.look()).toEqual({ status: 'idle', pending: [], messages: [] });
    });
  });
};
