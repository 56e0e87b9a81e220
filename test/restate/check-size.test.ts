import { expect, test } from 'vitest';
import { withinSize } from '../../src/restate/check-size.ts';
import type { KnownSession } from '../../src/restate/known-session.ts';
import type { Step } from '../../src/restate/step.ts';

const told = (text: string) => ({
  sessionId: 's',
  id: 'm',
  command: { type: 'send' as const, mode: 'queue' as const, messages: [{ role: 'user' as const, content: text }] },
});

const stepOf = (text: string): Step =>
  ({ answer: {}, next: { commits: [{ state: '{}', messages: [JSON.stringify(text)] }] } }) as unknown as Step;

const knownOf = (texts: readonly string[]): KnownSession =>
  ({
    messages: texts.map((content) => ({ role: 'user', content })),
    lengths: { whole: 2, changes: 0 },
    size: texts.reduce((sum, { length }) => sum + length, 0),
  }) as unknown as KnownSession;

const isRefused = (text: string, known: readonly string[] = []): boolean =>
  withinSize(stepOf(text), { told: told(text), known: knownOf(known) }, 1_048_576).answer.error !== undefined;

test('what a session comes to with a command is what the engine has to carry, in bytes and as JSON inside JSON', () => {
  expect(isRefused('x'.repeat(900_000))).toBe(false);
  expect(isRefused('x'.repeat(1_100_000))).toBe(true);
  expect(isRefused('"'.repeat(300_000))).toBe(true);
  expect(isRefused('€'.repeat(400_000))).toBe(true);
  expect(isRefused('x'.repeat(100_000), ['€'.repeat(400_000)])).toBe(true);
  // People go on deciding and stopping, and saying something short.
  expect(isRefused('x', ['€'.repeat(400_000)])).toBe(false);
});
