import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type ChatAnswer, type ChatRequest, startChatServer } from './chat-server.ts';
import { readmeBlocks } from './readme-blocks.ts';
import { type Finished, emptyFolder, fromSource, root, watch } from './run-example.ts';

/** What a model may say to the questions of the README. */
const answer = ({ body: { messages, tools } }: ChatRequest): ChatAnswer => {
  const last = messages.at(-1);
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (tools === undefined) return 'It rains on.';
  if (question.startsWith('Look')) return { call: 'GetWeather', input: { location: `place ${messages.length}` } };
  if (last?.role === 'tool' && question.startsWith('Do I')) return { call: 'final_answer', input: { umbrella: true } };
  if (last?.role === 'tool') return question.startsWith('Book') ? `Booked: ${last.content}` : 'Take a raincoat.';
  if (question.startsWith('Book')) return { call: 'BookTrain', input: { to: 'Hangzhou', seats: 3 } };
  return { call: 'GetWeather', input: { location: 'Suzhou' } };
};

/** Runs a program as it stands, inside the package, so that it finds `agentchart` by name. */
const run = async (program: string): Promise<Finished> => {
  const { env } = await startChatServer(answer);
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
    env: {
      OPENAI_API_KEY: env.API_KEY,
      OPENAI_BASE_URL: env.OPENAI_URL,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    },
  });
  const file = JSON.stringify(join(await emptyFolder(), 'sessions.db'));
  child.stdin?.end(program.replaceAll("'./sessions.db'", file));
  return finished;
};

test.concurrent('the first program of the README answers', async () => {
  const [program = ''] = readmeBlocks('ts');
  expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(16);
  expect(await run(program)).toEqual({ status: 0, stdout: 'Take a raincoat.\n', stderr: '' });
});

test.concurrent('all programs of the README run one after the other, and print what is said of them', async () => {
  const { status, stdout, stderr } = await run(readmeBlocks('ts').join('\n'));
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'Take a raincoat.',
    'Take a raincoat.',
    'settled 4',
    'Booked: {"train":"G7349","to":"Hangzhou","seats":2}',
    "{ type: 'limit', limit: 'maxIterations' } It rains on.",
    'idle → thinking.asking',
    'thinking.asking → acting',
    'GetWeather ok',
    ...stdout.split('\n').slice(8),
  ]);
  expect(stdout).toMatch(
    /"closed"\n\{ type: 'answered' \}\n(gpt-5-mini: \d+ ms\n){2}Take a raincoat.\ntrue\nTake a coat. 2\n1 messages so far\n$/,
  );
  expect(status).toBe(0);
});

test('every file that the README and the documents name is there', () => {
  const names = [
    'sessions',
    'approvals',
    'limits',
    'middleware',
    'options',
    'machine',
    'context',
    'manual-mode',
    'streams',
    'testing',
    'server',
    'stores',
    'crashes',
    'inspector',
    'distributed',
    'models',
    'tools',
    'errors',
    'performance',
  ];
  const files = ['README.md', ...names.map((name) => `docs/${name}.md`)];
  const links = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)/g)].map(
      ([, link = '', heading]) => ({ path: join(root, dirname(file), link), heading }),
    ),
  );
  const isThere = ({ path, heading }: (typeof links)[number]): boolean =>
    existsSync(path) &&
    (heading === undefined ||
      [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].some(
        ([, words = '']) =>
          words
            .toLowerCase()
            .replaceAll(/[^\w ]/g, '')
            .replaceAll(' ', '-') === heading,
      ));
  expect(links.length).toBeGreaterThan(8);
  expect(links.filter((link) => !isThere(link))).toEqual([]);
});
