import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import { emptyFolder, runExample } from './run-example.ts';

test.concurrent('the weather example answers with advice from the scripted model, and says that it is one', async () => {
  const { status, stdout, stderr } = await runExample('weather.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^Model: a scripted one on this machine/);
  expect(stdout).toContain('Suzhou has light rain now, at 16 °C. Wear a thin coat');
  expect(stdout).toContain('rounds of tool calls: 1');
  expect(status).toBe(0);
});

test.concurrent('the weather example asks the provider that a .env file names', async () => {
  const { env, requests } = await startChatServer(() => '带伞。');
  const cwd = await emptyFolder();
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  await writeFile(join(cwd, '.env'), lines.join('\n'));
  const { status, stdout } = await runExample('weather.ts', [], { cwd });
  expect(stdout).toContain('Model: test-model at 127.0.0.1:');
  expect(stdout).toContain('带伞。');
  expect(status).toBe(0);
  expect(requests.map(({ path, headers, body }) => [path, headers.authorization, body.model])).toEqual([
    ['/v1/chat/completions', 'Bearer test-key', 'test-model'],
  ]);
  expect(requests[0]?.body.messages.at(-1)?.content).toBe('What should I wear in Suzhou today?');
});

test.concurrent.each([
  [{ MODEL: 'm' }, 'Set API_KEY and OPENAI_URL as well'],
  [{ MODEL: 'm', API_KEY: 'k', OPENAI_URL: 'localhost' }, 'Set OPENAI_URL to a base URL such as'],
])('with %j in the environment it says what to set', async (env, message) => {
  const { status, stderr } = await runExample('weather.ts', [], { cwd: await emptyFolder(), env });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/\.ts:\d/);
  expect(status).toBe(2);
});

test.concurrent.each([
  ['weather.ts', '--help', 0, /^The classic: one tool, one question\./, /^$/],
  ['weather.ts', '--bad', 2, /^$/, /^This example does not take "--bad"; --help says what it is\.\n$/],
  ['expense.ts', '--help', 0, /--approve \| --reject REASON/, /^$/],
  ['expense.ts', '--bad', 2, /^$/, /^Unknown option '--bad'/],
  ['start.ts', '--help', 0, /--resume FILE/, /^$/],
])('%s %s says what there is, without a stack', async (file, flag, status, out, err) => {
  const finished = await runExample(file, [flag], { cwd: await emptyFolder() });
  expect(finished).toEqual({ status, stdout: expect.stringMatching(out), stderr: expect.stringMatching(err) });
});
