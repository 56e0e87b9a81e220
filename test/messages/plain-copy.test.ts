import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainCopy } from '../../src/messages/plain-copy.ts';
import { replyOf } from '../../src/models/check-reply.ts';
import { assistantContent } from './arbitrary-history.ts';

const outcomeOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
};

test('a plain copy is what JSON would make of the value, and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
      const copy = plainCopy(value);
      const text = JSON.stringify(value);
      // Such a key is left to whoever looks more closely, see below.
      fc.pre(!text.includes('"__proto__":'));
      expect(copy).toEqual(JSON.parse(text));
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
    }),
  );
  expect(plainCopy({ a: undefined, b: [-0, 'x\ud83d'] })).toStrictEqual({ b: [0, 'x\ufffd'] });
});

test('what is not surely plain JSON has no plain copy', () => {
  const cycle: Record<string, unknown> = {};
  cycle['again'] = [cycle];
  let deep: unknown = 1;
  for (let level = 0; level < 101; level += 1) deep = [deep];
  const given = [cycle, deep, [undefined], Array(1), new Date(), new Map(), NaN, 1n, () => 1, Symbol('s'), undefined];
  for (const value of [...given, JSON.parse('{"__proto__":1}')]) {
    expect(plainCopy(value)).toBeUndefined();
    expect(plainCopy({ a: [value] })).toBeUndefined();
  }
});

test('a reply that is plain is read like one that has to be mended', () => {
  const reply = fc.record(
    {
      message: fc.record({ role: fc.constant('assistant'), content: assistantContent }),
      finishReason: fc.constantFrom('stop', 'tool-calls', 'length', 'content-filter', 'other', 'odd', null),
      refusal: fc.string(),
      model: fc.string(),
      usage: fc.dictionary(
        fc.constantFrom('inputTokens', 'totalTokens', 'x'),
        fc.oneof(fc.nat(), fc.constant(-0), fc.double()),
      ),
    },
    { requiredKeys: ['message', 'finishReason'] },
  );
  fc.assert(
    fc.property(reply, (given) => {
      // `null` counts as absent, but has to be looked at.
      const mended = { ...given, message: { ...given.message, providerOptions: null } };
      expect(outcomeOf(() => replyOf(given, 'm'))).toStrictEqual(outcomeOf(() => replyOf(mended, 'm')));
    }),
  );
});
