import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/messages/json.ts';
import { inputHash } from '../../src/tools/input-hash.ts';

test('R29: the hash of arguments is SHA-256 of their canonical JSON, whatever they are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (input) => {
      expect(inputHash(input)).toBe(createHash('sha256').update(canonicalJson(input)).digest('hex'));
    }),
  );
});

test('R29: the order of keys does not change the hash, a value does', () => {
  expect(inputHash({ to: 'Ann', amount: 1 })).toBe(inputHash({ amount: 1, to: 'Ann' }));
  expect(inputHash({ to: 'Ann', amount: 1 })).not.toBe(inputHash({ to: 'Ann', amount: 2 }));
  expect(() => inputHash({ amount: 1n })).toThrow(TypeError);
});
