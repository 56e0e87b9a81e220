import { expect, test } from 'vitest';
import { blocksOf } from './readme-blocks.ts';
import { fromSource, root, watch } from './run-example.ts';

test('the program of docs/testing.md prints what is said of it', async () => {
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
  });
  child.stdin?.end(blocksOf('docs/testing.md', 'ts').join('\n'));
  const { status, stdout, stderr } = await finished;
  expect(stderr).toBe('');
  expect(stdout).toBe(
    [
      'Your train is booked. 0',
      '{',
      '  turn: 1,',
      '  round: 1,',
      "  expected: 'BookTrain asks for approval',",
      "  came: 'BookTrain runs without asking'",
      '}',
      'true [',
      "  'agent.thinking.checking',",
      "  'agent.observing.consulting',",
      "  'agent.done.tool-calls'",
      ']',
      "[ 'endless in thinking.asking' ]",
      '',
    ].join('\n'),
  );
  expect(status).toBe(0);
});
