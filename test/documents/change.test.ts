import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applied, difference } from '../../src/documents/change.ts';
import { deepFreeze } from '../messages/arbitrary-history.ts';

const key = fc.oneof(
  fc.constantFrom(
    'constructor',
    '__proto__',
    'prototype',
    'length',
    'toString',
    'hasOwnProperty',
    '0',
    '1',
    '=',
    '+',
    '-',
    '',
  ),
  fc.string({ maxLength: 3 }),
);

/** Any JSON, as `JSON.parse` makes it: there `__proto__` may be a key as any other. */
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -1, '', '=', '+', '-', 'x'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
      const text = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',');
      return JSON.parse(`{${text}}`) as unknown;
    }),
  ),
})).value;

/** Without the keys that no session writes. */
const withoutPrototypes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), function (this: Record<string, unknown>, name, item: unknown) {
    return name === '__proto__' ? undefined : item;
  });

const roundTrip = (before: unknown, after: unknown): unknown => {
  const change = difference(before, after);
  return change === undefined ? before : applied(before, JSON.parse(JSON.stringify(change)));
};

describe('a change', () => {
  test('B134: brings any JSON value to any other, through JSON text', () => {
    fc.assert(
      fc.property(json.map(withoutPrototypes), json.map(withoutPrototypes), (before, after) => {
        expect(JSON.stringify(difference(before, before) ?? null)).toBe('null');
        expect(roundTrip(before, after)).toEqual(after);
      }),
      { numRuns: 2000 },
    );
  });

  test('B134: between values that are mostly the same', () => {
    const place = fc.record({
      document: json.map(withoutPrototypes),
      path: fc.array(fc.nat(3)),
      value: json.map(withoutPrototypes),
    });
    const changed = (value: unknown, path: readonly number[], put: unknown): unknown => {
      const [first, ...rest] = path;
      if (first === undefined || typeof value !== 'object' || value === null) return put;
      if (Array.isArray(value)) return value.length === 0 ? [put] : value.with(first % value.length, put);
      const names = Object.keys(value);
      const name = names[first % Math.max(1, names.length)];
      if (name === undefined) return { more: put };
      return { ...value, [name]: changed((value as Record<string, unknown>)[name], rest, put) };
    };
    fc.assert(
      fc.property(place, ({ document, path, value }) => {
        const before: unknown = Array.isArray(document) && document.length === 0 ? [0] : document;
        const after = changed(before, path, value);
        expect(roundTrip(before, after)).toEqual(after);
      }),
      { numRuns: 2000 },
    );
  });

  test('what was before is left as it is, and what is the same object in both is not looked into', () => {
    fc.assert(
      fc.property(json.map(withoutPrototypes), json.map(withoutPrototypes), (before, after) => {
        expect(roundTrip(deepFreeze(before), deepFreeze(after))).toEqual(after);
      }),
    );
    const large = new Proxy({}, { ownKeys: () => expect.fail('looked into') });
    expect(difference({ large, n: 1 }, { large, n: 2 })).toEqual({ n: ['=', 2] });
  });

  test('the smallest one that there is stands for keys that come, change and go, and for items that come to the end', () => {
    expect(difference({ a: 1, b: 2, c: [1] }, { a: 1, b: 3, c: [1, 2], d: 4 })).toEqual({
      b: ['=', 3],
      c: ['+', [2]],
      d: ['=', 4],
    });
    expect(difference({ a: 1, b: 2 }, { b: 2 })).toEqual({ a: ['-'] });
    expect(difference([{ a: 1 }, { b: 2 }], [{ a: 1 }, { b: 3 }])).toEqual({ 1: { b: ['=', 3] } });
    expect(difference([1, 2], [1])).toEqual(['=', [1]]);
    expect(difference({ a: undefined }, {})).toBeUndefined();
  });

  test('no change sets a prototype', () => {
    fc.assert(
      fc.property(json, json, (before, change) => {
        let after: unknown;
        try {
          after = applied(before, change);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return;
        }
        expect(({} as { x?: unknown }).x).toBeUndefined();
        if (typeof after === 'object' && after !== null) {
          expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(after));
        }
      }),
      { numRuns: 2000 },
    );
    for (const text of [
      '{"__proto__":["=",{"x":1}]}',
      '{"constructor":{"prototype":{"x":["=",1]}}}',
      '{"a":{"__proto__":{"x":["=",1]}}}',
    ]) {
      try {
        applied({ a: {} }, JSON.parse(text));
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
      expect(({} as { x?: unknown }).x).toBeUndefined();
      expect((Object as { x?: unknown }).x).toBeUndefined();
    }
  });

  test.each([
    [{}, 3],
    [{}, ['?']],
    [{}, ['+', [1]]],
    [[], ['+', 1]],
    [3, { a: ['=', 1] }],
    [undefined, { a: ['=', 1] }],
    [{ a: 1 }, { a: ['-', 1], b: 3 }],
    [[1], { x: ['=', 1] }],
    [[1], { length: ['=', 1e9] }],
    [[1], { 1e9: ['=', 1] }],
    [[1], { '-1': ['=', 1] }],
    [[1], { 0.5: ['=', 1] }],
    [[1], { 0: ['-'] }],
    [{}, ['-']],
  ])('of %j, %j is refused', (before, change) => {
    expect(() => applied(before, change)).toThrow(TypeError);
  });
});
