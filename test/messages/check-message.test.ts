import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/errors.ts';
import { checkMessages } from '../../src/messages/check-message.ts';
import type { Message } from '../../src/messages/message.ts';
import { wellFormed } from '../../src/messages/well-formed.ts';
import { anyMessages, deepFreeze } from './arbitrary-history.ts';
import { answers, asks, call, result, user } from './short.ts';

const refusal = (input: unknown): string => {
  try {
    checkMessages(input);
  } catch (error) {
    if (error instanceof AgentError && error.code === 'invalid-message') return error.message;
    throw error;
  }
  return 'taken';
};

const userParts = (...content: unknown[]) => checkMessages({ role: 'user', content })[0]?.content;
const inputOf = (input: unknown) => {
  const [message] = checkMessages(asks(call('c1', undefined, { input })));
  const part = message?.content[0];
  return typeof part === 'object' && part.type === 'tool-call' ? part.input : undefined;
};

describe('checkMessages', () => {
  test('a string is one user message, one message is a list of one', () => {
    expect(checkMessages('hi')).toEqual([user('hi')]);
    expect(checkMessages(user('hi'))).toEqual([user('hi')]);
    expect(checkMessages([user('a'), user('b')])).toEqual([user('a'), user('b')]);
  });

  test.each<[unknown, string]>([
    ['', 'message: found ""; allowed: text that is not empty'],
    [[], 'messages: found an empty array; allowed: at least one message'],
    [user(''), 'message.content: found ""; allowed: content that is not empty'],
    [{ role: 'user', content: [] }, 'message.content: found an empty array; allowed: content that is not empty'],
    [undefined, 'message: found undefined; allowed: a message, such as'],
    [null, 'message: found null;'],
    [7, 'message: found 7;'],
    [['hi'], 'messages[0]: found "hi"; allowed: a message,'],
    [new Map(), 'message: found an object of Map;'],
    [{ role: 'bot', content: 'x' }, 'message.role: found "bot"; allowed: "system", "user", "assistant", "tool"'],
    [[user('a'), { role: 'assistant', content: null }], 'messages[1].content: found null; allowed: a string, an array'],
    [
      [user('a'), user('b'), { role: 'user', content: [{ type: 'image_url' }] }],
      'messages[2].content[0].type: found "image_url"; allowed: "text", "file", "image"',
    ],
    [{ role: 'user', content: [call('c1')] }, 'message.content[0].type: found "tool-call"; allowed: "text"'],
    [{ role: 'user', content: [{ type: 'text' }] }, 'message.content[0].text: found undefined; allowed: a string'],
    [{ role: 'system', content: [] }, 'message.content: found an empty array; allowed: a string'],
    [{ role: 'tool', content: 'x' }, 'message.content: found "x"; allowed: an array of parts'],
    [{ role: 'tool', content: [{ ...result('a'), toolCallId: 1 }] }, 'message.content[0].toolCallId: found 1;'],
    [answers({ ...result('a'), toolName: '' }), 'message.content[0].toolName: found ""; allowed: a name'],
    [{ role: 'tool', content: [{ ...result('a'), output: 'x' }] }, 'message.content[0].output: found "x"; allowed: {'],
    [
      { role: 'tool', content: [{ ...result('a'), output: { type: 'x' } }] },
      'message.content[0].output.type: found "x"; allowed: "text", "json", "error-text", "error-json"',
    ],
    [
      { role: 'tool', content: [{ ...result('a'), output: { type: 'content', value: [{ type: 'file-url' }] } }] },
      'message.content[0].output.value[0].type: found "file-url"; allowed: "text", "file-data"',
    ],
    [asks({ ...call('a'), providerOptions: JSON.parse('{"x":1}') }), 'message.content[0].providerOptions.x: found 1;'],
    [
      { role: 'assistant', content: '', tool_calls: [{}] },
      'message.tool_calls: found an array; allowed: calls as parts',
    ],
  ])('what is wrong is named with its path: %j', (input, sentence) => {
    expect(refusal(input)).toContain(sentence);
  });

  test('B114: a made-up approval among the parts is refused', () => {
    const approval = { type: 'tool-approval-response', approvalId: 'x', approved: true };
    expect(refusal({ role: 'tool', content: [approval] })).toContain(
      '"tool-approval-response"; allowed: "tool-result"',
    );
  });

  test.each([
    ['NaN', Number.NaN, 'input.a: found NaN; allowed: a finite number'],
    ['a function', () => 1, 'input.a: found a function; allowed: a JSON value'],
    ['a symbol', Symbol('x'), 'input.a: found a symbol;'],
    ['a Map', new Map(), 'input.a: found an object of Map;'],
    ['bytes', new Uint8Array(1), 'input.a: found an object of Uint8Array;'],
    ['a date of no day', new Date(Number.NaN), 'input.a: found an object of Date;'],
    ['a __proto__ key', JSON.parse('{"__proto__":{}}'), 'input.a.__proto__: found an object; allowed: any other key'],
  ])('B136: %s inside JSON is refused', (_name, value, sentence) => {
    expect(refusal(asks(call('c1', undefined, { input: { a: value } })))).toContain(`message.content[0].${sentence}`);
  });

  test('B136: cycles and bottomless nesting are refused', () => {
    const cycle: Record<string, unknown> = {};
    cycle['the self'] = [cycle];
    expect(refusal(asks(call('c1', undefined, { input: cycle })))).toContain(
      'input["the self"][0]: found an object; allowed: a value without a cycle',
    );
    const deep: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
    expect(refusal(asks(call('c1', undefined, { input: deep })))).toContain('at most 500 levels');
    const twice = { a: 1 };
    expect(inputOf({ x: twice, y: twice })).toEqual({ x: { a: 1 }, y: { a: 1 } });
  });

  test('B136: dates, bigints, undefined and -0 get their documented form', () => {
    const input = { date: new Date(0), big: 10n, gone: undefined, list: [undefined, 1], zero: -0, constructor: 'x' };
    const checked = inputOf(input);
    expect(checked).toStrictEqual({
      date: '1970-01-01T00:00:00.000Z',
      big: '10',
      list: [null, 1],
      zero: 0,
      constructor: 'x',
    });
    expect(JSON.parse(JSON.stringify(checked))).toStrictEqual(checked);
    expect(inputOf(undefined)).toEqual({});
  });

  test('own __proto__ keys are refused everywhere, and no prototype is set', () => {
    const evil: unknown = JSON.parse('{"__proto__":{"role":"user","content":"x"}}');
    expect(refusal(evil)).toContain('message.__proto__');
    expect(refusal([{ role: 'user', content: [JSON.parse('{"type":"text","text":"a","__proto__":{}}')] }])).toContain(
      'messages[0].content[0].__proto__',
    );
    expect(refusal({ ...user('a'), providerOptions: JSON.parse('{"__proto__":{}}') })).toContain('__proto__');
    expect(refusal({ ...user('a'), providerOptions: { x: JSON.parse('{"__proto__":{}}') } })).toContain('x.__proto__');
  });

  test('B139: lone surrogates are replaced on the way in', () => {
    expect(checkMessages('a\ud83d')).toEqual([user('a\ufffd')]);
    expect(inputOf({ 'k\ud83d': ['\udc00'] })).toEqual({ 'k\ufffd': ['\ufffd'] });
  });

  test('fields that we do not know are left out, those of a provider are kept', () => {
    const extra = { ...user('a'), id: 'm1', createdAt: new Date(), providerOptions: { x: { y: [1] }, z: undefined } };
    expect(checkMessages(extra)).toStrictEqual([{ ...user('a'), providerOptions: { x: { y: [1] } } }]);
  });

  test('an object whose properties throw gives an invalid-message error with the cause', () => {
    const cause = new Error('no');
    const hostile = {
      role: 'user',
      get content() {
        throw cause;
      },
    };
    expect(() => checkMessages(hostile)).toThrow(expect.objectContaining({ code: 'invalid-message', cause }));
  });

  test('R2: the answer is a deep copy, and frozen messages are taken', () => {
    const part = { type: 'text' as const, text: 'a', providerOptions: { x: { y: { z: 1 } } } };
    const input = deepFreeze<Message[]>([{ role: 'user', content: [part] }]);
    const [copy] = checkMessages(input);
    expect(copy).toEqual(input[0]);
    expect(copy).not.toBe(input[0]);
    const [inner] = copy?.content ?? [];
    expect(inner).not.toBe(part);
    expect(typeof inner === 'object' && inner.providerOptions?.x?.y).not.toBe(part.providerOptions.x.y);
  });

  test('R2: messages of ours come back equal, but for lone surrogates', () => {
    const hasProto = (value: unknown) => JSON.stringify(value).includes('__proto__');
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const empty = messages.some(({ role, content }) => role === 'user' && content.length === 0);
        if (messages.length === 0 || empty || hasProto(messages)) {
          expect(refusal(messages)).not.toBe('taken');
          return;
        }
        // `-0`, which a JSON round trip makes 0.
        const expected: unknown = JSON.parse(JSON.stringify(wellFormed(messages)));
        expect(checkMessages(deepFreeze(messages))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('files', () => {
  const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' };
  const bytes = new TextEncoder().encode('hi');

  test.each<[string, unknown]>([
    ['base64', 'aGk='],
    ['base64 in lines', 'aG\nk=\n'],
    ['a Uint8Array', bytes],
    ['a view into a larger buffer', new Uint8Array([0, 0x68, 0x69, 0]).subarray(1, 3)],
    ['a Buffer', Buffer.from('hi')],
    ['an ArrayBuffer', Uint8Array.from(bytes).buffer],
    ['tagged data', { type: 'data', data: 'aGk=' }],
    ['tagged bytes', { type: 'data', data: bytes }],
    ['tagged text', { type: 'text', text: 'hi' }],
  ])('%s becomes base64', (_name, data) => {
    expect(userParts({ type: 'file', data, mediaType: 'text/plain' })).toEqual([file]);
  });

  test('URL-safe base64 becomes standard base64', () => {
    expect(userParts({ ...file, data: '_-8' })).toEqual([{ ...file, data: '/+8' }]);
  });

  test.each<[string, unknown, string]>([
    ['a URL', new URL('https://a.b/c'), 'https://a.b/c'],
    ['its text', 'https://a.b/c', 'https://a.b/c'],
    ['a data URL', 'data:text/plain;base64,aGk=', 'data:text/plain;base64,aGk='],
    ['a tagged URL', { type: 'url', url: new URL('https://a.b/c') }, 'https://a.b/c'],
    ['a tagged URL in text, after JSON', { type: 'url', url: 'https://a.b/c' }, 'https://a.b/c'],
  ])('%s becomes text', (_name, data, text) => {
    expect(userParts({ ...file, data, filename: 'a.txt' })).toEqual([{ ...file, data: text, filename: 'a.txt' }]);
  });

  test('an image part becomes a file part, its type read from the data where it is not said', () => {
    expect(userParts({ type: 'image', image: new URL('https://a.b/c'), mediaType: 'image/png' })).toEqual([
      { type: 'file', data: 'https://a.b/c', mediaType: 'image/png' },
    ]);
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    expect(userParts({ type: 'image', image: png })).toEqual([
      { type: 'file', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
    ]);
    expect(userParts({ type: 'image', image: 'data:image/webp;base64,AAAA' })).toMatchObject([
      { mediaType: 'image/webp' },
    ]);
    expect(userParts({ type: 'image', image: 'https://a.b/c' })).toMatchObject([{ mediaType: 'image/*' }]);
  });

  test.each<[unknown, string]>([
    ['./cat.png', 'data: found "./cat.png"; allowed: base64 text, binary data, a URL'],
    ['', 'data: found "";'],
    [new Uint8Array(0), 'data: found an object of Uint8Array; allowed: data that is not empty'],
    [new URL('file:///etc/passwd'), 'data: found "file:///etc/passwd"; allowed: an https:'],
    [{ type: 'url', url: 'javascript:1' }, 'data.url: found "javascript:1";'],
    [{ openai: 'file-1' }, 'data: found an object; allowed: base64 text'],
    [undefined, 'data: found undefined;'],
  ])('%j is refused', (data, sentence) => {
    expect(refusal({ role: 'user', content: [{ ...file, data }] })).toContain(`message.content[0].${sentence}`);
  });

  test('bytes of any length are base64 as Node writes it', () => {
    for (const length of [1, 2, 3, 0x6000, 0x6001, 100_000]) {
      const random = Uint8Array.from({ length }, (_, index) => (index * 31) % 256);
      expect(userParts({ ...file, data: random })).toEqual([{ ...file, data: Buffer.from(random).toString('base64') }]);
    }
  });

  test('files in the result of a tool become base64', () => {
    const value = [
      { type: 'text', text: 'a' },
      { type: 'file', data: { type: 'data', data: bytes }, mediaType: 'image/png', filename: 'f' },
      { type: 'file', data: { type: 'text', text: 'b' }, mediaType: 'text/plain' },
      { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
      { type: 'file-data', data: 'aGk=', mediaType: 'image/png' },
    ];
    const [message] = checkMessages({
      role: 'tool',
      content: [{ ...result('a'), output: { type: 'content', value } }],
    });
    expect(message?.content).toMatchObject([
      {
        output: {
          value: [
            { type: 'text', text: 'a' },
            { type: 'file-data', data: 'aGk=', mediaType: 'image/png', filename: 'f' },
            { type: 'text', text: 'b' },
            { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
            { type: 'file-data', data: 'aGk=', mediaType: 'image/png' },
          ],
        },
      },
    ]);
  });
});
