import { expect, test } from 'vitest';
import { emptyFolder, runExample } from './run-example.ts';

/** What a program printed after its first two lines, which name the model. */
const printed = async (file: string): Promise<string[]> => {
  const { status, stdout, stderr } = await runExample(file, [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.trimEnd().split('\n').slice(2);
};

test.concurrent('memory.ts knows one person again in another conversation, and tells nobody else', async () => {
  expect(await printed('memory.ts')).toEqual([
    'Ann: My favourite drink is green tea.',
    '  Noted. (2 messages stored)',
    'Ann: What shall I drink?',
    '  A green tea, as always. (2 messages stored)',
    'Bo: What shall I drink?',
    '  I do not know what you like. (2 messages stored)',
  ]);
});

test.concurrent('history.ts sends what its table has, and the session keeps its last turn', async () => {
  expect(await printed('history.ts')).toEqual([
    'My favourite drink is green tea.',
    '  Noted.',
    'My favourite city is Suzhou.',
    '  Noted.',
    'What shall I drink?',
    '  A green tea, as always.',
    '',
    '2 messages in the session, 6 in the table',
  ]);
});

test.concurrent('compaction.ts sends a summary, and stores all', async () => {
  const lines = await printed('compaction.ts');
  expect(lines.slice(-7)).toEqual([
    'What shall I drink?',
    '  sent: user',
    '  sent: user, user, assistant, user',
    '  A green tea, as always.',
    '',
    'stored: 8 messages',
    'summarize: 7 messages became 4',
  ]);
  expect(lines).toContain('  sent: user, assistant, user, assistant, user');
});

test.concurrent('manual.ts runs both calls itself and gets the answer', async () => {
  expect(await printed('manual.ts')).toEqual([
    '→ BrewTime {"drink":"tea"}',
    '→ BrewTime {"drink":"coffee"}',
    'tea: 3 min, coffee: 4 min',
  ]);
});
