import { expect, test } from 'vitest';
import { emptyFolder, runExample } from './run-example.ts';

test('a machine that invokes the agent gets its result by onDone', async () => {
  const { status, stdout, stderr } = await runExample('embed.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  const states = [...stdout.matchAll(/^(invoice|agent) +(\S+)$/gm)].map(([, id, state]) => `${id} ${state}`);
  expect(states.filter((state) => state.startsWith('invoice'))).toEqual(['invoice paying', 'invoice paid']);
  expect(states.slice(-3)).toEqual(['agent done.answered', 'agent closed', 'invoice paid']);
  expect(stdout).toContain('call_2_0     settled.ok');
  expect(stdout).toContain('300 went to Mei; 19700 are left.');
  expect(status).toBe(0);
});
