import fc from 'fast-check';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { canonicalJson, isJson, isPlainObject } from '../../src/messages/json.ts';
import { wellFormed } from '../../src/messages/well-formed.ts';
import { deepFreeze } from './arbitrary-history.ts';

describe('canonicalJson', () => {
  test('R28: the order of keys does not matter, at any depth; the order of items does', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: 1 })).toBe('{"a":1,"b":[{"c":2,"d":1}]}');
    expect(canonicalJson({ a: 1, b: [{ c: 2, d: 1 }] })).toBe(canonicalJson({ b: [{ d: 1, c: 2 }], a: 1 }));
    expect(canonicalJson([[2, 1], [0]])).toBe('[[2,1],[0]]');
    expect(canonicalJson({ 10: 'a', 9: 'b', x: 'c' })).toBe(canonicalJson({ x: 'c', 9: 'b', 10: 'a' }));
  });

  test('undefined is an absent key, null in an array and alone', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(canonicalJson([undefined, 1])).toBe('[null,1]');
    expect(canonicalJson(undefined)).toBe('null');
  });

  test('a __proto__ key is a key like others', () => {
    const value: unknown = JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}');
    expect(canonicalJson(value)).toBe('{"__proto__":{"a":2,"z":1},"b":1}');
    expect(canonicalJson(value)).not.toBe(canonicalJson({ b: 1 }));
  });

  test('it reads back as the value, and never changes it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonicalJson(deepFreeze(value));
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(canonicalJson(JSON.parse(JSON.stringify(value)))).toBe(text);
      }),
    );
  });
});

test('isPlainObject: what JSON.parse makes, in any realm', () => {
  for (const value of [{}, Object.create(null), JSON.parse('{"__proto__":1}')]) expect(isPlainObject(value)).toBe(true);
  expect(isPlainObject(runInContext('({ a: 1 })', createContext({})))).toBe(true);
  for (const value of [null, [], 'x', 1, new Date(), new Map(), new (class A {})(), new URL('https://a.b'), () => 1])
    expect(isPlainObject(value)).toBe(false);
});

test('isJson: what a JSON round trip gives back as it was', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const value of [null, 0, '', [{}], { a: [1] }]) expect(isJson(value)).toBe(true);
  for (const value of [undefined, -0, Number.NaN, 1n, { a: undefined }, [new Date()], new Map(), cycle, () => 1])
    expect(isJson(value)).toBe(false);
});

test('isJson: at most 500 levels', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  expect([500, 501, 100_000].map((levels) => isJson(nested(levels)))).toEqual([true, false, false]);
});

describe('wellFormed', () => {
  test('B139: nothing ill-formed is left, and what is well-formed is the same object', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const clean = wellFormed(deepFreeze(value));
        const text = JSON.stringify(clean);
        expect(JSON.stringify(wellFormed(clean))).toBe(text);
        expect(wellFormed(clean)).toBe(clean);
      }),
    );
    expect(wellFormed({ a: ['\ud83d'] })).toEqual({ a: ['\ufffd'] });
  });

  test('bottomless nesting is left as it is', () => {
    const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
    expect(wellFormed(deep)).toBe(deep);
  });
});
