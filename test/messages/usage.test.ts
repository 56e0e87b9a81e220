import { describe, expect, test } from 'vitest';
import type { Usage } from '../../src/messages/usage.ts';
import { addUsage } from '../../src/messages/usage.ts';

describe('addUsage', () => {
  test('R43: each kind is summed for itself', () => {
    expect(
      addUsage(
        { inputTokens: 10, outputTokens: 2, totalTokens: 12, cachedInputTokens: 4, reasoningTokens: 1 },
        { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: 0, reasoningTokens: 1 },
      ),
    ).toEqual({ inputTokens: 11, outputTokens: 3, totalTokens: 14, cachedInputTokens: 4, reasoningTokens: 2 });
  });

  test('R43: what nobody counted stays absent, which is not zero', () => {
    expect(addUsage({}, {})).toEqual({});
    expect(addUsage({ inputTokens: 1 }, { outputTokens: 0 })).toEqual({ inputTokens: 1, outputTokens: 0 });
    expect(Object.keys(addUsage({ inputTokens: 1 }, {}))).toEqual(['inputTokens']);
  });

  test('R43: null from a server is as if it had not counted', () => {
    const loose: Usage = JSON.parse('{"inputTokens":null,"outputTokens":null,"totalTokens":3}');
    expect(addUsage({ outputTokens: 2 }, loose)).toEqual({ outputTokens: 2, totalTokens: 3 });
  });

  test('R2: neither side changes', () => {
    const a = Object.freeze({ inputTokens: 1 });
    expect(addUsage(a, undefined)).toBe(a);
    expect(addUsage(a, Object.freeze({ inputTokens: 2 }))).toEqual({ inputTokens: 3 });
  });
});
