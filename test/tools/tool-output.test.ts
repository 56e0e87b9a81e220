import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/errors.ts';
import type { ToolOutput } from '../../src/messages/message.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { toToolOutput } from '../../src/tools/tool-output.ts';

type Override = Tool['toModelOutput'];

const convert = (value: unknown, { max = 100_000, override }: { max?: number; override?: Override } = {}) =>
  toToolOutput(value, { name: 'f', maxResultChars: max, toModelOutput: override });

const output = (value: unknown, options?: { max?: number; override?: Override }): ToolOutput => {
  const result = convert(value, options);
  if (result.error !== undefined) throw result.error;
  return result.output;
};

const text = (value: string) => ({ type: 'text', value });
const json = (value: unknown) => ({ type: 'json', value });

class Point {
  x = 1;
  #y = 2;
  get y() {
    return this.#y;
  }
}

describe('R15/B66: what a tool returns and what the model reads', () => {
  const success = text('Success: function completed.');
  const cases: [string, unknown, unknown][] = [
    ['a string', 'hello', text('hello')],
    ['white space', '  ', text('  ')],
    ['undefined', undefined, success],
    ['null', null, success],
    ['an empty string', '', success],
    ['a number', 42, json(42)],
    ['-0', -0, json(0)],
    ['false', false, json(false)],
    ['NaN', Number.NaN, text('NaN')],
    ['Infinity', Number.NEGATIVE_INFINITY, text('-Infinity')],
    ['a bigint', 10n, text('10')],
    ['a symbol', Symbol('x'), text('Symbol(x)')],
    ['a function', () => 1, text('[a function]')],
    ['a class', Point, text('[a function]')],
    ['an object', { a: [1, { b: null }] }, json({ a: [1, { b: null }] })],
    ['an empty array', [], json([])],
    ['an empty object', {}, json({})],
    ['an instance', new Point(), json({ x: 1 })],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), json({ a: 1 })],
    ['a date', new Date(0), text('1970-01-01T00:00:00.000Z')],
    ['an invalid date', new Date(Number.NaN), text('Invalid Date')],
    ['a map with text keys', new Map([['a', new Map([['b', 1]])]]), json({ a: { b: 1 } })],
    [
      'a map with other keys',
      new Map<unknown, unknown>([
        [1, 'x'],
        ['a', 2],
      ]),
      json([
        [1, 'x'],
        ['a', 2],
      ]),
    ],
    ['a set', new Set([1, 'a']), json([1, 'a'])],
    ['a URL', new URL('https://example.org/a'), text('https://example.org/a')],
    ['a regular expression', /a+/g, text('/a+/g')],
    ['a boxed text', Object('x'), text('x')],
    ['numbers in a typed array', new Float32Array([0.5, Number.NaN]), json([0.5, null])],
    ['a sparse array', Object.assign([], { 0: 1, 2: 2 }), json([1, null, 2])],
    ['a blob', new Blob(['abc']), text('[a blob of 3 bytes; return its bytes instead]')],
  ];
  test.each(cases)('%s', (_name, value, expected) => expect(output(value)).toEqual(expected));

  test('B65: nested values that JSON loses or changes', () => {
    const nested = {
      big: { n: 10n },
      date: new Date(0),
      bad: new Date(Number.NaN),
      map: new Map([['a', new Set([1n])]]),
      bytes: new Uint8Array([104, 105]),
      error: Object.assign(new TypeError('disk full'), { code: 'ENOSPC' }),
      gone: undefined,
      run: () => 1,
      sign: Symbol('x'),
      nan: Number.NaN,
      zero: -0,
      list: [undefined, () => 1, Symbol('x'), Number.NaN],
    };
    expect(output(nested)).toEqual(
      json({
        big: { n: '10' },
        date: '1970-01-01T00:00:00.000Z',
        bad: 'Invalid Date',
        map: { a: ['1'] },
        bytes: 'aGk=',
        error: { name: 'TypeError', message: 'disk full', code: 'ENOSPC' },
        nan: null,
        zero: 0,
        list: [null, null, null, null],
      }),
    );
  });

  test('B65: a cycle is marked; a value that stands twice is no cycle', () => {
    const self: Record<string, unknown> = { shared: [1] };
    self['again'] = self['shared'];
    self['self'] = self;
    self['map'] = new Map([['up', self]]);
    expect(output(self)).toEqual(json({ shared: [1], again: [1], self: '[Circular]', map: { up: '[Circular]' } }));
  });

  test('B65: what throws when it is read leaves a text in its place', () => {
    const getter = Object.defineProperty({ b: 1 }, 'a', {
      enumerable: true,
      get() {
        throw new Error('no a');
      },
    });
    const revoked = () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    };
    const throwing = {
      toJSON() {
        throw new Error('x');
      },
    };
    expect(output(getter)).toEqual(json({ a: '[unreadable: no a]', b: 1 }));
    expect(output(throwing)).toEqual(text('[unreadable: x]'));
    expect(output({ throwing, revoked: revoked() })).toMatchObject(
      json({ throwing: '[unreadable: x]', revoked: expect.stringContaining('[unreadable') }),
    );
    expect(output(revoked())).toMatchObject(text(expect.stringContaining('[unreadable')));
  });

  test('a toJSON is read once, and one that never ends is cut', () => {
    expect(output({ toJSON: () => ({ a: 1, toJSON: () => 2 }) })).toMatchObject(json({ a: 1 }));
    const endless = (): unknown => ({ toJSON: () => ({ next: endless() }) });
    expect(JSON.stringify(output(endless()))).toContain('[cut: nested too deeply]');
    expect(output({ toJSON: () => undefined })).toEqual(json(null));
  });

  test('the key __proto__ is dropped', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2}}');
    expect(JSON.stringify(output(value))).toBe('{"type":"json","value":{"constructor":{"b":2}}}');
    expect(output(new Map([['__proto__', 1]]))).toEqual(json({}));
  });

  test('a value of endless size ends', () => {
    let wide: unknown = 'x';
    for (let level = 0; level < 40; level += 1) wide = [wide, wide];
    for (const huge of [wide, Object.assign([], { length: 2 ** 31 })]) {
      const { value } = output(huge) as { value: string };
      expect(value.slice(-60)).toMatch(/\[cut: the first 100000 of \d+ characters are shown\]$/);
    }
  });
});

describe('failures', () => {
  test('R15: an Error that is returned is a failure, and is given whole', () => {
    const error = new Error('disk full');
    expect(convert(error)).toEqual({ error });
    expect(convert(error, { override: () => ({ type: 'text', value: 'hidden' }) }).error).toBe(error);
    expect(convert(new AgentError('unknown-tool', 'x')).error).toBeInstanceOf(AgentError);
    expect(convert(new DOMException('x', 'AbortError')).error).toBeInstanceOf(DOMException);
  });

  test('an MCP result with isError is a failure in its own words', () => {
    const result = convert({ content: [{ type: 'text', text: 'no such city' }], isError: true });
    expect(result.error?.message).toBe('no such city');
    expect(result.output).toEqual({ type: 'error-text', value: 'no such city' });
    expect(convert({ content: [{ type: 'odd' }], isError: true }).output).toEqual({
      type: 'error-json',
      value: [{ type: 'odd' }],
    });
    expect(convert({ content: [{ type: 'text', text: '' }], isError: true }).output).toEqual({
      type: 'error-text',
      value: 'Error: the tool failed.',
    });
  });
});

describe('content', () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const content = (...value: unknown[]) => ({ type: 'content', value });

  test('B66: bytes are a file; images and PDF are known by their first bytes', () => {
    const file = (data: string, mediaType = 'application/octet-stream') => ({ type: 'file-data', data, mediaType });
    expect(output(Buffer.from('hi'))).toEqual(content(file('aGk=')));
    expect(output(new TextEncoder().encode('hi').buffer)).toEqual(content(file('aGk=')));
    expect(output(new DataView(Uint8Array.from([0, 104, 105, 0]).buffer, 1, 2))).toEqual(content(file('aGk=')));
    expect(output(new TextEncoder().encode('%PDF-1.7'))).toEqual(content(file('JVBERi0xLjc=', 'application/pdf')));
    expect(output(png)).toEqual(content({ type: 'image-data', data: 'iVBORw0KGgo=', mediaType: 'image/png' }));
    const many = new Uint8Array(200_000).fill(7);
    expect(output(many)).toEqual(content(file(Buffer.from(many).toString('base64'))));
  });

  test('parts of the AI SDK and of MCP', () => {
    const image = { type: 'image-data', data: 'AAAA', mediaType: 'image/png' };
    const parts = [
      { type: 'text', text: 'a' },
      image,
      { type: 'media', data: 'AAAA', mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: png }, mediaType: 'application/zip', filename: 'a.zip' },
      { type: 'file', data: { type: 'text', text: 'inline' }, mediaType: 'text/plain' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'x:1', text: 'res' } },
      { type: 'resource', resource: { uri: 'x:2', blob: 'AAAA', mimeType: 'image/png' } },
    ];
    const expected = content(
      { type: 'text', text: 'a' },
      image,
      image,
      { type: 'file-data', data: 'iVBORw0KGgo=', mediaType: 'application/zip', filename: 'a.zip' },
      { type: 'text', text: 'inline' },
      image,
      { type: 'file-data', data: 'AAAA', mediaType: 'audio/wav' },
      { type: 'text', text: 'res' },
      image,
    );
    expect(output(parts)).toEqual(expected);
    expect(output({ content: parts, _meta: {} })).toEqual(expected);
    expect(output(image)).toEqual(content(image));
  });

  test('what only looks like parts is JSON', () => {
    const list = [
      { type: 'text', text: 'a' },
      { type: 'link', url: 'x' },
    ];
    expect(output(list)).toEqual(json(list));
    const page = { content: [{ type: 'text', text: 'a' }], title: 'b' };
    expect(output(page)).toEqual(json(page));
    expect(output({ type: 'text', value: 'a' })).toEqual(json({ type: 'text', value: 'a' }));
  });

  test('an MCP result without content is its structured content, or what it is', () => {
    expect(output({ content: [], structuredContent: { a: 1 } })).toEqual(json({ a: 1 }));
    expect(output({ content: [] })).toEqual(json({ content: [] }));
  });

  test('texts share the limit; data is whole', () => {
    const image = { type: 'image-data', data: 'A'.repeat(100), mediaType: 'image/png' };
    expect(output([{ type: 'text', text: 'abcdef' }, image, { type: 'text', text: 'ghijkl' }], { max: 8 })).toEqual(
      content({ type: 'text', text: 'abcdef' }, image, {
        type: 'text',
        text: 'gh\n[cut: the first 2 of 6 characters are shown]',
      }),
    );
  });
});

describe('B139/B140: long results', () => {
  test('a text beyond the limit is cut, and says so and how long it was', () => {
    expect(output('x'.repeat(11), { max: 10 })).toEqual(
      text('xxxxxxxxxx\n[cut: the first 10 of 11 characters are shown]'),
    );
    expect(output('x'.repeat(10), { max: 10 })).toEqual(text('xxxxxxxxxx'));
  });

  test('50 MB are cut to the default limit', () => {
    const { value } = output('x'.repeat(50_000_000)) as { value: string };
    expect(value).toHaveLength(100_000 + '\n[cut: the first 100000 of 50000000 characters are shown]'.length);
  });

  test('JSON beyond the limit becomes text', () => {
    const value = { list: [1, 2, 3] };
    expect(output(value, { max: 16 })).toEqual(json(value));
    expect(output(value, { max: 15 })).toEqual(text('{"list":[1,2,3]\n[cut: the first 15 of 16 characters are shown]'));
  });

  test('B139: a pair is not parted, a lone surrogate is replaced, in keys too', () => {
    expect(output('123456789🎉tail', { max: 10 })).toEqual(
      text('123456789\n[cut: the first 9 of 15 characters are shown]'),
    );
    expect(output('a\ud83d')).toEqual(text('a\ufffd'));
    expect(output({ 'k\ud83d': ['\udc00'] })).toEqual(json({ 'k\ufffd': ['\ufffd'] }));
    expect(output([{ type: 'text', text: 'a\ud83d' }])).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'a\ufffd' }],
    });
  });
});

describe('toModelOutput', () => {
  test.each<[unknown, string]>([
    ['text', 'a value of type string'],
    [undefined, 'undefined'],
    [null, 'null'],
    [[1], 'an array'],
    [Promise.resolve({ type: 'text', value: 'x' }), 'a promise; it cannot be async'],
    [{ type: 'text', value: 3 }, '{ type: "text" } with a value of type number'],
    [{ type: 'txt', value: 'x' }, '{ type: "txt" } with a value of type string'],
    [{}, '{ type: undefined } with a value of type undefined'],
  ])('R15: of what is no output, %j, the error says what it was', (given, says) => {
    const { error } = toToolOutput('x', { name: 'f', maxResultChars: 100, toModelOutput: (() => given) as Override });
    expect(error?.message.endsWith(`, gave ${says}`)).toBe(true);
  });

  const over = (made: unknown, max?: number) =>
    convert({ a: 1 }, { override: () => made as ToolOutput, ...(max === undefined ? {} : { max }) });

  test('its output takes the place of the rules, made plain and cut', () => {
    expect(output({ a: 1 }, { override: (value) => ({ type: 'text', value: JSON.stringify(value) }) })).toEqual(
      text('{"a":1}'),
    );
    expect(over({ type: 'json', value: { d: new Date(0), u: undefined } }).output).toEqual(
      json({ d: '1970-01-01T00:00:00.000Z' }),
    );
    expect(over({ type: 'text', value: '' }).output).toEqual(text('Success: function completed.'));
    expect(over({ type: 'text', value: 'abc' }, 2).output).toEqual(
      text('ab\n[cut: the first 2 of 3 characters are shown]'),
    );
    expect(over({ type: 'content', value: [{ type: 'text', text: 'a', extra: 1 }] }).output).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'a' }],
    });
    expect(over({ type: 'execution-denied', reason: 'no' })).toEqual({
      output: { type: 'execution-denied', reason: 'no' },
    });
  });

  test('an error output is a failure in its words', () => {
    expect(over({ type: 'error-text', value: 'no' })).toEqual({
      error: new Error('no'),
      output: { type: 'error-text', value: 'no' },
    });
    expect(over({ type: 'error-text', value: '' }).output).toEqual({
      type: 'error-text',
      value: 'Error: the tool failed.',
    });
    expect(over({ type: 'error-json', value: { code: 1 } })).toEqual({
      error: new Error('{"code":1}'),
      output: { type: 'error-json', value: { code: 1 } },
    });
  });

  test('a throw is a failure, and so is what is no output', () => {
    const failed = convert(1, {
      override: () => {
        throw new Error('bad view');
      },
    });
    expect(failed).toEqual({ error: new Error('bad view') });
    for (const wrong of [
      undefined,
      'text',
      Promise.resolve(),
      { type: 'text', value: 1 },
      { type: 'x' },
      { type: 'content', value: [1] },
    ]) {
      expect(over(wrong).error).toMatchObject({
        code: 'invalid-tool',
        message: expect.stringMatching(/^tool "f": toModelOutput must return .*, gave \S/),
      });
    }
  });
});

const isStable = (value: unknown): boolean => isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);

const exotic = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    }),
    fc.constantFrom<unknown>(
      Symbol('s'),
      () => 1,
      Number.NaN,
      -0,
      new Error('e'),
      new Date(Number.NaN),
      /x/,
      '\ud800',
      Buffer.from('b'),
    ),
    fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'binary' }) }),
    fc.record({ type: fc.constant('file-data'), data: fc.string({ unit: 'binary' }), mediaType: fc.string() }),
    fc.record({ content: fc.array(tie('value')), isError: fc.boolean() }),
    tie('value').map(
      (inner) =>
        new Proxy(
          { inner },
          {
            ownKeys: () => {
              throw inner;
            },
          },
        ),
    ),
    fc.array(tie('value')),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value')),
    tie('value').map((inner) => ({ toJSON: () => inner })),
    tie('value').map((inner) => new Map([[inner, inner]])),
    tie('value').map((inner) => {
      const cycle: Record<string, unknown> = { inner };
      cycle['cycle'] = cycle;
      return cycle;
    }),
  ),
})).value;

test('R15/B65/B139: any value gives a result that is stable JSON, well-formed and never empty', () => {
  fc.assert(
    fc.property(exotic, fc.integer({ min: 1, max: 300 }), (value, max) => {
      const result = convert(value, { max });
      if (result.error !== undefined) return;
      expect(isStable(result.output)).toBe(true);
      expect(JSON.stringify(result.output)).not.toMatch(/\\ud[89a-f]/);
      if (result.output.type === 'text') expect(result.output.value).not.toBe('');
    }),
    { numRuns: 2_000 },
  );
});

test('plain JSON passes unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const plain: unknown = JSON.parse(
        JSON.stringify(value, (key, item: unknown) => (key === '__proto__' ? undefined : item)),
      );
      if (typeof plain === 'object' && plain !== null) expect(output(value)).toEqual(json(plain));
    }),
  );
});
