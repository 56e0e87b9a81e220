import { CancelledError, type LogMetadata, type LoggerTransport } from '@restatedev/restate-sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { createEngineLog } from '../../src/restate/engine-log.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What is written of a line that the SDK says at each level, and of some that are in order. */
const written = (log: LoggerTransport): string[] => {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    lines.push(String(text).trimEnd());
    return true;
  });
  const say = (level: string, replaying: boolean, ...said: unknown[]): void =>
    log({ level, replaying, source: 'SYSTEM' } as LogMetadata, ...(said as [unknown]));
  for (const level of ['trace', 'debug', 'info', 'warn', 'error']) say(level, false, `a ${level}`, 'of 1');
  say('error', true, 'said before');
  say('warn', false, 'given up:', new CancelledError());
  say('warn', false, 'Accepting requests without validating request signatures.');
  spy.mockRestore();
  return lines;
};

test('a worker is quiet but for warnings and errors that are not in order, and for none of what its own end cuts off', () => {
  vi.stubEnv('RESTATE_LOGGING', '');
  expect(written(createEngineLog(() => false))).toEqual(['a warn of 1', 'a error of 1']);
  expect(written(createEngineLog(() => true))).toEqual([]);
});

test('where RESTATE_LOGGING names a level, all from that level on is written once', () => {
  vi.stubEnv('RESTATE_LOGGING', 'INFO');
  const lines = written(createEngineLog(() => true));
  expect(lines.slice(0, 3)).toEqual(['a info of 1', 'a warn of 1', 'a error of 1']);
  expect(lines.slice(3)).toEqual([expect.stringMatching(/^given up: /), expect.stringMatching(/^Accepting/)]);
  vi.stubEnv('RESTATE_LOGGING', 'error');
  expect(written(createEngineLog(() => false))).toEqual(['a error of 1']);
});
