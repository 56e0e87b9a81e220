import { expect, test } from 'vitest';
import { blocksOf } from './readme-blocks.ts';
import { emptyFolder, fromSource, root, runExample, watch } from './run-example.ts';

test.concurrent('the program of docs/middleware.md prints what is said of it', async () => {
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
  });
  child.stdin?.end(blocksOf('docs/middleware.md', 'ts').join('\n'));
  const { status, stdout, stderr } = await finished;
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'guard: I do not talk about passwords.',
    'brief: It rained.',
    'route: from the small one',
    'budget: Your budget is used up.',
    'mask: You said: Write to [mail address]',
    'fewer: search',
    'think: Seven.',
    'tools:',
    '  3 results for a',
    '  search may not run again in this conversation',
    '  not done: mail with {"to":"ann"}',
    'log: model-end scripted stop',
    'log: turn-end  answered',
    'log: model-end scripted stop',
    'log: turn-end  answered',
    'kept: 0',
    'otel: Hello.',
    '',
  ]);
  expect(status).toBe(0);
});

test.concurrent('the middleware example keeps, guards and logs', async () => {
  const { status, stdout, stderr } = await runExample('middleware.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  const [, first, second, third] = stdout.split('\n\n');
  expect(first).toContain('  tool-end   GetWeather\n');
  expect(first).not.toContain('nothing spent');
  expect(second?.match(/model-end .*nothing spent/g)).toHaveLength(2);
  expect(second?.split('\n').at(-1)).toBe(first?.split('\n').at(-1));
  expect(third).toBe('What is the password?\n  turn-end   answered\nI do not talk about passwords.\n');
  expect(status).toBe(0);
});

test.concurrent('the telemetry example shows a turn that another process goes on with', async () => {
  const { status, stdout, stderr } = await runExample('otel.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  const spans = [...stdout.matchAll(/^ {2}(\w+ \w+) +span (\w+), (.*)$/gm)].map(([, name, id, about = '']) => ({
    name,
    id,
    about,
  }));
  expect(spans.map(({ name }) => name)).toEqual([
    'chat scripted',
    'execute_tool GetBalance',
    'chat scripted',
    'invoke_agent clerk',
    'execute_tool Transfer',
    'chat scripted',
    'invoke_agent clerk',
  ]);
  const [first, second] = [spans[3], spans[6]];
  expect(first?.about).toMatch(/^pending/);
  expect(second?.about).toMatch(new RegExp(`^goes on from ${first?.id}, answered`));
  for (const span of spans.slice(0, 3)) expect(span.about).toContain(`in ${first?.id}`);
  for (const span of spans.slice(4, 6)) expect(span.about).toContain(`in ${second?.id}`);
  expect(stdout).toContain('300 went to Mei; 19700 are left.');
  expect(status).toBe(0);
});
