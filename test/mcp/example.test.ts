import { expect, test } from 'vitest';
import { emptyFolder, runExample } from '../examples/run-example.ts';

test('the example runs the tools of the official test server', async () => {
  const { status, stdout, stderr } = await runExample('mcp.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  expect(lines).toContain('test_get-sum: {"type":"text","value":"The sum of 19 and 23 is 42."}');
  expect(lines).toContain('test_trigger-long-running-operation: {"progress":1,"total":2}');
  expect(lines).toContain('test_toggle-simulated-logging: a human says no');
  expect(lines.at(-1)).toBe('The sum is 42, the long work is done, and nothing was switched on.');
  expect(status).toBe(0);
});
