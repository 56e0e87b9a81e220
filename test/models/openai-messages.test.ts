import { describe, expect, test } from 'vitest';
import type { Message, ToolOutput, UserMessage } from '../../src/messages/message.ts';
import { callingAll, messagesOf, result, round, user } from './sent.ts';

describe('messages', () => {
  test('B74: content of an assistant message with calls only is an empty string', async () => {
    expect(await messagesOf(round({}))).toMatchObject([{}, { role: 'assistant', content: '' }, {}]);
  });

  test('B76: exactly one system message, first: the current instructions', async () => {
    const stored: Message[] = [{ role: 'system', content: 'old' }, user, { role: 'system', content: 'older' }];
    expect(await messagesOf(stored, { instructions: 'S2' })).toEqual([
      { role: 'system', content: 'S2' },
      { role: 'user', content: 'go' },
    ]);
    expect(await messagesOf(stored)).toEqual([
      { role: 'system', content: 'old\n\nolder' },
      { role: 'user', content: 'go' },
    ]);
    expect(await messagesOf([user])).toEqual([{ role: 'user', content: 'go' }]);
  });

  test('B77: messages in a row are merged where asked for, else not', async () => {
    const image = { type: 'file' as const, data: 'AAAA', mediaType: 'image/png' };
    const messages: Message[] = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: 'd' },
      { role: 'user', content: 'e' },
      { role: 'user', content: [image] },
    ];
    expect(await messagesOf(messages)).toHaveLength(6);
    expect(await messagesOf(messages, {}, { mergeConsecutive: true })).toEqual([
      { role: 'user', content: 'a\n\nb' },
      { role: 'assistant', content: 'c\n\nd' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'e' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ]);
  });

  test.each<[string, ToolOutput, string]>([
    ['text', { type: 'text', value: 'a' }, 'a'],
    ['error-text', { type: 'error-text', value: 'Error: no' }, 'Error: no'],
    ['json', { type: 'json', value: { a: [1, null] } }, '{"a":[1,null]}'],
    ['error-json', { type: 'error-json', value: 'x' }, '"x"'],
    ['denied', { type: 'execution-denied' }, 'Tool call invocation rejected.'],
    ['denied, why', { type: 'execution-denied', reason: 'Too much.' }, 'Tool call invocation rejected. Too much.'],
    [
      'content',
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
  ])('R15, R27: a result of kind %s is sent as text', async (_kind, output, content) => {
    expect(await messagesOf(round({}, output))).toMatchObject([{}, {}, { role: 'tool', tool_call_id: 'c1', content }]);
  });

  test('images of results follow in one user message, after all results of the round', async () => {
    const messages: Message[] = [
      user,
      callingAll('c1', 'c2'),
      result({
        type: 'content',
        value: [
          { type: 'text', text: 'shot' },
          { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
        ],
      }),
      result({ type: 'text', value: 'b' }, 'c2'),
      { role: 'user', content: 'and?' },
    ];
    expect(await messagesOf(messages)).toEqual([
      { role: 'user', content: 'go' },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'c1', content: 'shot\n(1 file(s) of this result follow in the next message)' },
      { role: 'tool', tool_call_id: 'c2', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of f (c1):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'user', content: 'and?' },
    ]);
  });

  test('files of a user: images by URL or content, audio, documents', async () => {
    const content: UserMessage['content'] = [
      { type: 'text', text: 'look' },
      { type: 'file', data: 'https://x.test/a.png', mediaType: 'image/png', providerOptions: { p: { detail: 'low' } } },
      { type: 'file', data: 'AAAA', mediaType: 'image/*' },
      { type: 'file', data: 'data:audio/wav;base64,BBBB', mediaType: 'audio/wav' },
      { type: 'file', data: 'CCCC', mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', data: 'https://x.test/b.pdf', mediaType: 'application/pdf', filename: 'b.pdf' },
    ];
    expect(await messagesOf([{ role: 'user', content }], {}, { provider: 'p' })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
          { type: 'text', text: 'b.pdf: https://x.test/b.pdf' },
        ],
      },
    ]);
  });

  test('R9: a call that a provider ran goes out with its result, or not at all', async () => {
    const ran = { type: 'tool-call' as const, toolCallId: 's1', toolName: 'search', input: {}, providerExecuted: true };
    const found = {
      type: 'tool-result' as const,
      toolCallId: 's1',
      toolName: 'search',
      output: { type: 'text' as const, value: 'x' },
    };
    const text = { type: 'text' as const, text: 'found' };
    expect(await messagesOf([user, { role: 'assistant', content: [ran, text] }])).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'found' },
    ]);
    expect(await messagesOf([user, { role: 'assistant', content: [ran, found, text] }])).toMatchObject([
      {},
      { content: 'found', tool_calls: [{ id: 's1' }] },
      { role: 'tool', tool_call_id: 's1', content: 'x' },
    ]);
  });
});
