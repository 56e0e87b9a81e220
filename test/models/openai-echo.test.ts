import { describe, expect, test } from 'vitest';
import type { AssistantMessage } from '../../src/messages/message.ts';
import type { OpenAIChatOptions } from '../../src/models/openai/index.ts';
import { callPiece, completion, delta, sse, startReplayServer, wholeCall } from '../support/replay-server.ts';
import { ask, askStreamed, callsIn } from './ask.ts';
import { result, user } from './sent.ts';

describe('what is echoed', () => {
  const reasoned = { content: '', reasoning_content: 'need time', tool_calls: [wholeCall('c1', 'now', '{}')] };
  const streamed = sse(
    delta({ role: 'assistant', content: '', reasoning_content: 'need ' }),
    delta({ reasoning_content: 'time', tool_calls: [callPiece(0, 'c1', 'now', '{}')] }, 'tool_calls'),
  );

  /** The assistant message that request 2 carries, after the reply to request 1 was saved and loaded. */
  const echoed = async (
    reply: { json: unknown } | { body: string },
    first: Partial<OpenAIChatOptions> = {},
    second: Partial<OpenAIChatOptions> = first,
  ): Promise<unknown> => {
    await using server = await startReplayServer([reply, { json: completion({ content: 'ok' }) }], { strict: true });
    const request = { messages: [user] };
    const answer =
      'json' in reply ? await ask(server, request, first) : (await askStreamed(server, request, first)).reply;
    const stored: AssistantMessage = JSON.parse(JSON.stringify(answer.message));
    const results = callsIn(answer).map(([id, name]) => result({ type: 'text', value: 'x' }, id, name));
    await ask(server, { messages: [user, stored, ...results] }, second);
    const [, message] = JSON.parse(server.requests[1]?.raw ?? '{}').messages;
    return message;
  };

  test('B31: thoughts go back verbatim under their key, whole or streamed, after save and load', async () => {
    for (const reply of [{ json: completion(reasoned) }, { body: streamed }]) {
      expect(await echoed(reply)).toEqual({ role: 'assistant', ...reasoned });
    }
    expect(await echoed({ json: completion({ content: 'a', reasoning: 'b' }) })).toEqual({
      role: 'assistant',
      content: 'a',
      reasoning: 'b',
    });
  });

  test('B31: an empty text of thoughts that came with calls goes back too', async () => {
    expect(await echoed({ json: completion({ ...reasoned, reasoning_content: '' }) })).toMatchObject({
      reasoning_content: '',
    });
  });

  test('B31, R44: never to another provider, and not where the echo is off', async () => {
    const bare = { role: 'assistant', content: '', tool_calls: reasoned.tool_calls };
    expect(await echoed({ json: completion(reasoned) }, {}, { provider: 'other' })).toEqual(bare);
    expect(await echoed({ json: completion(reasoned) }, { echoReasoning: false })).toEqual(bare);
    const details = completion({ ...reasoned, reasoning_details: [{ type: 'reasoning.text', text: 'x' }] });
    expect(await echoed({ json: details }, { echoReasoning: false })).toEqual(bare);
  });

  test('B29: thinking in the content goes back as thinking in the content', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Ok' }] },
      { type: 'text', text: 'hi' },
    ];
    expect(await echoed({ json: completion({ content }) })).toEqual({ role: 'assistant', content });
  });

  test('R44: unknown fields of message and call go back where they came from', async () => {
    const signature = { google: { thought_signature: 'S' } };
    const call = { ...wholeCall('c1', 'now', '{}'), extra_content: signature };
    const message = { content: '', tool_calls: [call], encrypted_content: 'E', annotations: [] };
    const { annotations: _empty, ...kept } = message;
    expect(await echoed({ json: completion(message) })).toEqual({ role: 'assistant', ...kept });
    const body = sse(
      delta({ role: 'assistant', encrypted_content: 'E' }),
      delta({ tool_calls: [{ ...callPiece(0, 'c1', 'now', '{}'), extra_content: signature }] }, 'tool_calls'),
    );
    expect(await echoed({ body })).toEqual({ role: 'assistant', ...kept });
    expect(await echoed({ body }, {}, { provider: 'other' })).not.toHaveProperty('encrypted_content');
  });

  test('R44: reasoning details in pieces go back as one block, signed', async () => {
    const detail = (fields: object) => ({ type: 'reasoning.text', index: 0, ...fields });
    const body = sse(
      delta({ reasoning: 'a', reasoning_details: [detail({ text: 'a', format: 'f' })] }),
      delta({ reasoning: 'b', reasoning_details: [detail({ text: 'b', format: 'f' })] }),
      delta({ reasoning_details: [detail({ signature: 'S' })] }),
      delta({ content: 'hi', reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', index: 1 }] }, 'stop'),
    );
    expect(await echoed({ body })).toEqual({
      role: 'assistant',
      content: 'hi',
      reasoning: 'ab',
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'ab', format: 'f', signature: 'S' },
        { type: 'reasoning.encrypted', data: 'D', index: 1 },
      ],
    });
  });
});
