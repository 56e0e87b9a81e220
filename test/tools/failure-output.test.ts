import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { failureOutput } from '../../src/tools/failure-output.ts';
import { invalidInputOutput, unknownToolOutput } from '../../src/tools/unrunnable.ts';

const plain = 'Error: the tool failed.';
const detailed = (thrown: unknown): string => failureOutput(thrown, { detailed: true }).value;

describe('R16: what the model reads of a tool that threw', () => {
  test('by default that it failed, and no more', () => {
    expect(failureOutput(new Error('secret'))).toEqual({ type: 'error-text', value: plain });
  });

  test.each<[unknown, string]>([
    [new Error('disk full'), `${plain} disk full`],
    ['a text', `${plain} a text`],
    [{ message: 'an object' }, `${plain} an object`],
    [42, `${plain} 42`],
    [undefined, plain],
    [null, plain],
    [new Error(''), plain],
  ])('B66: detailed, of %o', (thrown, expected) => {
    expect(detailed(thrown)).toBe(expected);
  });

  test('what can not be printed does not throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('y');
      },
    });
    for (const thrown of [proxy, hostile, Object.create(null), Symbol('s')])
      expect(detailed(thrown)).toMatch(/^Error: the tool failed\./);
  });

  test.each([
    [
      "ENOENT: no such file or directory, open '/home/me/my files/a.txt'",
      "ENOENT: no such file or directory, open '<path>'",
    ],
    ['Cannot find module /srv/app/index.js:3:7', 'Cannot find module <path>:3:7'],
    ['read ~/.ssh/id_rsa failed', 'read <path> failed'],
    ['open C:\\Program Files\\app\\x.dll failed', 'open <path> failed'],
    ['share \\\\host\\dir\\x gone', 'share <path> gone'],
    ['import file:///srv/app/a.mjs failed', 'import <path> failed'],
    ['at root /etc', 'at root <path>'],
    ['(/var/log/x.log)', '(<path>)'],
    ['GET https://example.org/a/b?c=d answered 404', 'GET https://example.org/a/b?c=d answered 404'],
    ['and/or 1/2 a / b </div>', 'and/or 1/2 a / b </div>'],
  ])('no file path: %s', (message, expected) => {
    expect(detailed(new Error(message))).toBe(`${plain} ${expected}`);
  });

  test('no file path of a real error of Node', async () => {
    const error: unknown = await readFile('/no/such dir/file.txt').catch((thrown: unknown) => thrown);
    expect(detailed(error)).toContain('ENOENT');
    expect(detailed(error)).not.toContain('/no');
  });

  test('no stack, also where the message holds one', () => {
    const inner = new Error('inner');
    const message = detailed(new Error(`outer: ${inner.stack}`));
    expect(message).toContain('outer: Error: inner');
    expect(message).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.ts/);
  });

  test('B139/B140: a long message is cut, and well-formed', () => {
    const message = detailed(new Error('🎉'.repeat(5_000)));
    expect(message.length).toBeLessThan(2_200);
    expect(message).toContain('of 10000 characters');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (noise) => detailed(new Error(noise)).isWellFormed()));
  });
});

test('R17: bad arguments name the fields and what was expected', () => {
  const issues = [
    { path: 'a.b[0]', message: 'expected string' },
    { path: '', message: 'unknown key "x\ud83d"' },
  ];
  expect(invalidInputOutput('search', issues)).toEqual({
    type: 'error-text',
    value:
      'Error: the arguments for the tool "search" are not valid; the tool did not run.\n- a.b[0]: expected string\n- unknown key "x\ufffd"',
  });
});

test('R18/B47: an unknown tool is named, with the ones that exist', () => {
  expect(unknownToolOutput('nope', ['a', 'b']).value).toBe('Error: there is no tool named "nope". Known tools: a, b.');
  expect(unknownToolOutput('x'.repeat(9_000), []).value).toMatch(
    /^Error: there is no tool named "x{100}"\. There are no tools\.$/,
  );
});
