import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/messages/message.ts';
import { callPiece as T, completion, delta, sse, startReplayServer, wholeCall } from '../support/replay-server.ts';
import { ask, askStreamed, callsIn, reasoningOf } from './ask.ts';
import { failed, hi, played } from './played.ts';

describe('content and thoughts', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Ok' }] };

  test('B29: content that is a list: text and thinking apart, the rest passed over, calls kept', async () => {
    const body = sse(
      delta({ role: 'assistant', content: [thinking] }),
      delta({ content: [{ type: 'text', text: 'hi' }, { type: 'zzz' }, { type: 'reference', reference_ids: [1] }] }),
      delta({ tool_calls: [T(0, 'c1', 'f', '{}')] }, 'tool_calls'),
    );
    const whole = completion({
      content: [thinking, { type: 'text', text: 'hi' }, { type: 'zzz' }],
      tool_calls: [wholeCall('c1', 'f', '{}')],
    });
    for (const reply of [await played({ body }), await played({ json: whole })]) {
      expect(textOf(reply.message)).toBe('hi');
      expect(reasoningOf(reply)).toBe('Ok');
      expect(callsIn(reply)).toEqual([['c1', 'f', {}]]);
    }
  });

  test.each([['reasoning_content'], ['reasoning']])(
    'B30: thoughts in pieces under %s, and the key is kept',
    async (field) => {
      const body = sse(delta({ role: 'assistant', [field]: 'th' }), delta({ [field]: 'ink' }), hi);
      await using server = await startReplayServer([{ body }]);
      const { reply } = await askStreamed(server, {}, { provider: 'p' });
      expect(reply.message.content).toEqual([
        { type: 'reasoning', text: 'think', providerOptions: { p: { field } } },
        { type: 'text', text: 'hi' },
      ]);
    },
  );

  test('B30: thoughts sent under both keys are read once', async () => {
    const reply = await played({ body: sse(delta({ reasoning: 'a', reasoning_content: 'a' }), hi) });
    expect(reasoningOf(reply)).toBe('a');
  });

  test('B33: only choice 0 is read', async () => {
    const both = {
      choices: [
        { index: 0, delta: { content: 'A' }, finish_reason: 'stop' },
        { index: 1, delta: { content: 'B', tool_calls: [T(0, 'x', 'f', '{}')] }, finish_reason: 'tool_calls' },
      ],
    };
    const reply = await played({ body: sse(both) });
    expect(textOf(reply.message)).toBe('A');
    expect(callsIn(reply)).toEqual([]);
    expect(reply.finishReason).toBe('stop');
  });

  test('B33: a reply with choice 1 alone is an error', async () => {
    const one = { choices: [{ index: 1, delta: { content: 'B' }, finish_reason: 'stop' }] };
    expect(await failed({ body: sse(one) })).toMatchObject({ name: 'ModelError' });
    const whole = { choices: [{ index: 1, message: { content: 'B' }, finish_reason: 'stop' }] };
    expect(await failed({ json: whole })).toMatchObject({ name: 'ModelError', transient: false });
  });

  test.each([['stop'], [null]])(
    'B36: everything in the thoughts is an empty answer, finish reason %s',
    async (reason) => {
      const json = completion({ content: '', reasoning_content: 'The answer is 4' }, reason);
      await using server = await startReplayServer([{ json }]);
      const reply = await ask(server);
      expect(textOf(reply.message)).toBe('');
      expect(reasoningOf(reply)).toBe('The answer is 4');
    },
  );

  test('a refusal is kept, whole and streamed', async () => {
    await using server = await startReplayServer([{ json: completion({ content: null, refusal: 'I will not.' }) }]);
    expect(await ask(server)).toMatchObject({ refusal: 'I will not.', message: { content: [] } });
    const reply = await played({ body: sse(delta({ refusal: 'I will ' }), delta({ refusal: 'not.' }, 'stop')) });
    expect(reply.refusal).toBe('I will not.');
  });
});
