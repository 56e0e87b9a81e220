import { expect, test } from 'vitest';
import { type ChatAnswer, type ChatRequest, startChatServer } from './chat-server.ts';
import { blocksOf } from './readme-blocks.ts';
import { fromSource, root, watch } from './run-example.ts';

/** What a model may say to the questions of these documents. */
const answer = ({ body: { messages } }: ChatRequest): ChatAnswer => {
  const last = messages.at(-1);
  if (last?.role === 'tool')
    return last.content.startsWith('{') ? 'Take a raincoat.' : `I could not look: ${last.content}`;
  if (last?.content.startsWith('What should I wear')) return { call: 'GetWeather', input: { location: 'Suzhou' } };
  const known = messages.some(({ content }) => content.includes('It is Monday'));
  return known ? 'Monday.' : `I have read ${messages.length} messages.`;
};

const run = async (file: string): Promise<string[]> => {
  const { env } = await startChatServer(answer);
  const { child, finished } = watch(process.execPath, [fromSource, '--input-type=module-typescript', '-'], {
    cwd: root,
    env: { OPENAI_API_KEY: env.API_KEY, OPENAI_BASE_URL: env.OPENAI_URL },
  });
  child.stdin?.end(blocksOf(file, 'ts').join('\n'));
  const { status, stdout, stderr } = await finished;
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.trimEnd().split('\n');
};

test.concurrent('the programs of docs/context.md run one after the other', async () => {
  expect(await run('docs/context.md')).toEqual([
    'turn 1: answered',
    'Monday.',
    '2 messages in the session, 4 in the history',
    'I have read 1 messages.',
  ]);
});

test.concurrent('the programs of docs/manual-mode.md run one after the other', async () => {
  expect(await run('docs/manual-mode.md')).toEqual([
    'Take a raincoat.',
    'Take a raincoat.',
    'I could not look: Not now.',
    '9 messages, 3 of them sent',
  ]);
});
