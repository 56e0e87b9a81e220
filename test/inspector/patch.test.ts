import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyPatch, cutText, diff, maxText } from '../../src/inspector/patch.ts';
import { isWhole, toPlain } from '../../src/inspector/to-plain.ts';

const json = fc.jsonValue({ maxDepth: 4 });

/** A value that shares parts with another one, as contexts do. */
const changed = fc.tuple(json, json, fc.nat()).map(([before, other, seed]): [unknown, unknown] => {
  const change = (value: unknown, depth: number): unknown => {
    if ((seed >> depth) % 3 === 0) return other;
    if (Array.isArray(value)) {
      const kept = value.map((item, index) =>
        index === seed % Math.max(1, value.length) ? change(item, depth + 1) : item,
      );
      return [...kept.slice(0, seed % (value.length + 1)), other];
    }
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value);
      const kept = entries.filter((_, index) => index !== seed % 5);
      return { ...Object.fromEntries(kept.map(([key, item]) => [key, change(item, depth + 1)])), added: other };
    }
    return typeof value === 'string' ? `${value}${String(seed)}` : value;
  };
  return [before, change(before, 1)];
});

test('a patch leads from any value to any other one', () => {
  fc.assert(
    fc.property(fc.oneof(changed, fc.tuple(json, json)), ([before, after]) => {
      const patch = diff(before, after);
      expect(patch === undefined ? before : applyPatch(before, patch)).toEqual(after);
    }),
    { numRuns: 300 },
  );
});

test('a patch is as large as what is new, not as what is there', () => {
  const messages = Array.from({ length: 200 }, () => ({ role: 'user', content: 'x'.repeat(2_000) }));
  const before = { messages, text: 'y'.repeat(1_000), count: 1 };
  const after = {
    ...before,
    messages: [...messages, { role: 'user', content: 'new' }],
    text: `${before.text} and`,
    count: 2,
  };
  expect(diff(before, after)).toEqual({
    o: {
      messages: { l: {}, n: 200, a: [{ role: 'user', content: 'new' }] },
      text: { s: ' and' },
      count: { v: 2 },
    },
  });
});

test('a text that grows beyond what is kept is cut, and its length still told', () => {
  const patch = diff('a'.repeat(maxText - 1), 'a'.repeat(maxText + 9));
  expect(applyPatch('a'.repeat(maxText - 1), patch ?? { v: '' })).toEqual(cutText('a'.repeat(maxText + 9)));
});

class Odd {
  kept = 1;
  get broken(): number {
    throw new Error('no');
  }
}

const cyclic: Record<string, unknown> = { name: 'ring' };
cyclic['self'] = cyclic;
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

test.each<[string, unknown, unknown]>([
  ['a cycle', cyclic, { name: 'ring', self: { $circular: true } }],
  ['a bigint', { n: 10n }, { n: { $bigint: '10' } }],
  ['a map and a set', [new Map([['a', 1]]), new Set([2])], [{ $map: [['a', 1]] }, { $set: [2] }]],
  ['an error', new TypeError('no'), { $error: { name: 'TypeError', message: 'no' } }],
  [
    'a getter that throws',
    {
      a: Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw new Error('no');
        },
      }),
    },
    { a: { x: { $unreadable: true } } },
  ],
  ['an instance', new Odd(), { $class: 'Odd', kept: 1 }],
  ['a revoked proxy', proxy, { $unreadable: true }],
  [
    'what JSON drops',
    { u: undefined, f: () => 1, n: Number.NaN, d: new Date(0) },
    { f: { $function: true }, n: { $number: 'NaN' }, d: { $date: '1970-01-01T00:00:00.000Z' } },
  ],
  ['an own __proto__', JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
  [
    'toJSON, which is not called',
    {
      toJSON: 'x',
      a: {
        toJSON: () => {
          throw new Error('no');
        },
      },
    },
    { toJSON: 'x', a: { toJSON: { $function: true } } },
  ],
])('%s is told as plain JSON', (_, value, plain) => {
  expect(toPlain(value)).toEqual(plain);
});

test('ten megabytes are cut, and it is told how long they were', () => {
  expect(toPlain('x'.repeat(10_000_000))).toEqual({ $cut: 'x'.repeat(maxText), length: 10_000_000 });
});

test.each([
  [
    { apiKey: 'k-1', api_key: 'x', Authorization: 'Bearer x', password: 'p', totalTokens: 12, token: 't' },
    ['k-1', 'Bearer x', '"p"', '"t"'],
  ],
  [{ note: 'use sk-proj-1234567890abcdefghij now' }, ['sk-proj']],
  [['Bearer abcdefghijklmnopqrstuvwxyz'], ['abcdefghij']],
  [['cannot reach postgres://ann:hunter2@db.example/shop'], ['hunter2']],
  [
    { OPENAI_API_KEY: 'k-1', githubToken: 'k-2', db_password: 'k-3', 'X-Api-Key': 'k-4', awsSecretAccessKey: 'k-5' },
    ['k-1', 'k-2', 'k-3', 'k-4', 'k-5'],
  ],
  [{ headers: [{ cookie: 'k-1' }], clientSecret: ['k-2'], accesstoken: { a: 'k-3' } }, ['k-1', 'k-2', 'k-3']],
])('secrets are hidden by their key and by their look', (value, secrets) => {
  const text = JSON.stringify(toPlain(value));
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(isWhole(toPlain(value))).toBe(false);
});

test('what is no secret is whole', () => {
  const value = {
    totalTokens: 12,
    tokens: 3,
    nextPageToken: 'p-2',
    key: 'k',
    text: 'the secret of success',
    ask: 'sk-',
    address: 'http://127.0.0.1:8080/a@b',
  };
  expect(toPlain(value)).toEqual(value);
  expect(isWhole(toPlain(value))).toBe(true);
});
