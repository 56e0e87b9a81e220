import { expect, test } from 'vitest';
import { command, preparePage, readStream } from '../inspector/http.ts';
import { emptyFolder, runExample, startExample } from './run-example.ts';

test('the inspector example waits for a decision on its page, and books when it is taken', async () => {
  await preparePage();
  const running = startExample('inspect.ts', [], { cwd: await emptyFolder() });
  let shown = '';
  running.child.stdout?.on('data', (piece: Buffer) => (shown += piece.toString()));
  await running.shows('It waits for you');
  const url = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/.exec(shown)?.[0] ?? '';
  const { events } = await readStream(url, (streamed) => streamed.events.length >= streamed.hello.last);
  const text = JSON.stringify(events);
  const session = /"type":"session","session":"([^"]+)"/.exec(text)?.[1];
  const inputHash = /"inputHash":"([0-9a-f]{64})"/.exec(text)?.[1];
  const { status, body } = await command(url, { type: 'approve', session, callId: 'call_2_0', inputHash });
  expect([status, body]).toEqual([200, '{}']);
  const finished = await running.finished;
  expect(finished.stdout).toContain('73 yuan');
  expect([finished.stderr, finished.status]).toEqual(['', 0]);
});

test('the inspector of Stately attaches to our machines', async () => {
  const { status, stdout, stderr } = await runExample('stately-inspect.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  const lines = stdout.split('\n');
  const states = lines.filter((line) => line.startsWith('snapshot')).map((line) => line.slice('snapshot '.length));
  expect(states).toEqual(expect.arrayContaining(['{"thinking":"asking"}', '"acting"', '{"done":"answered"}']));
  expect(states.indexOf('"acting"')).toBeLessThan(states.indexOf('{"done":"answered"}'));
  expect(stdout).toContain('actor    call_1_0');
  expect(status).toBe(0);
});
