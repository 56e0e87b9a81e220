import { spawnSync } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, readStream } from '../inspector/http.ts';
import { startChatServer } from './chat-server.ts';
import { readmeBlocks } from './readme-blocks.ts';
import { emptyFolder, exampleArgs, runExample, startExample, watch } from './run-example.ts';

const untimed = (text: string): string[] => text.split('\n').map((line) => line.replace(/^ *\d+\.\d\ds/, ''));

const statesIn = (stdout: string): string[] => [...stdout.matchAll(/● (\S+)/g)].map(([, state]) => String(state));

test.concurrent('without keys it shows states, two calls at once, an approval and the answer, and ends with status 0', async () => {
  const { status, stdout, stderr } = await runExample('start.ts', [], { cwd: await emptyFolder() });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^Model: a scripted one on this machine/);
  expect(statesIn(stdout)).toEqual([
    'thinking.asking',
    'acting',
    'observing.counting',
    'thinking.asking',
    'acting',
    'awaiting-approval',
    'acting',
    'observing.counting',
    'thinking.asking',
    'done.answered',
  ]);
  const calls = [...stdout.matchAll(/([→←]) GetWeather/g)].map(([, arrow]) => arrow);
  expect(calls).toEqual(['→', '→', '←', '←']);
  expect(stdout).toContain('→ GetWeather {"location":"Suzhou"}');
  expect(stdout).toContain('needs approval: approved, for there is no keyboard here to ask');
  expect(stdout).toContain('← BookTrain ok {"train":"G7349","to":"Hangzhou","seats":1,"price":73}');
  expect(stdout).toContain('Agent: Suzhou: light rain, 80 % rain; Hangzhou: partly cloudy, 10 % rain. Your train');
  expect(stdout).not.toContain('\u001b');
  // What the README shows of it is what it shows.
  const shown = untimed(readmeBlocks('text').join('')).filter((line) => !['', '…'].includes(line.trim()));
  expect(shown.length).toBeGreaterThan(5);
  expect(untimed(stdout)).toEqual(expect.arrayContaining(shown));
  expect(status).toBe(0);
});

test.concurrent('a rejection by flag reaches the model with its reason', async () => {
  const { status, stdout } = await runExample('start.ts', ['--reason', 'too dear'], { cwd: await emptyFolder() });
  expect(stdout).toContain('← BookTrain rejected Tool call invocation rejected. too dear');
  expect(stdout).toContain('I have booked nothing');
  expect(status).toBe(0);
});

test.concurrent('with MODEL, API_KEY and OPENAI_URL it talks to that provider, and no text of it moves the cursor', async () => {
  const { env, requests } = await startChatServer(() => 'Stay \u001b[2J at \u009b home\u202e.\r');
  const { status, stdout } = await runExample('start.ts', ['Shall', 'I', 'go?'], { cwd: await emptyFolder(), env });
  expect(stdout).toContain('Model: test-model at 127.0.0.1:');
  expect(stdout).toContain('Agent: Stay \\u001b[2J at \\u009b home\\u202e.\\u000d');
  expect(status).toBe(0);
  expect(requests).toHaveLength(1);
  const [request] = requests;
  expect(request?.headers.authorization).toBe('Bearer test-key');
  expect(request?.body).toMatchObject({ model: 'test-model', stream: true });
  expect(request?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Shall I go?' });
  expect(request?.body.tools).toHaveLength(2);
});

test.concurrent('an error of the provider is shown as text, with status 1', async () => {
  const { env } = await startChatServer(() => ({ status: 401, message: 'this key is not valid' }));
  const { status, stderr } = await runExample('start.ts', [], { cwd: await emptyFolder(), env });
  expect(stderr).toContain('this key is not valid');
  expect(stderr).not.toMatch(/\.ts:\d/);
  expect(status).toBe(1);
});

test.concurrent('Ctrl-C while the model is silent leaves a file, and --resume asks again', async () => {
  let isSilent = true;
  const { env, requests } = await startChatServer(() => (isSilent ? undefined : 'Here I am.'));
  const cwd = await emptyFolder();
  const { child, shows, finished } = startExample('start.ts', ['hello'], { cwd, env });
  await shows('● thinking.asking');
  child.kill('SIGINT');
  const { status, stdout } = await finished;
  expect(status).toBe(130);
  const file = /npm start -- --resume (\S+)/.exec(stdout)?.[1] ?? '';
  expect(await readdir(join(cwd, '.sessions'))).toEqual([file.replace('.sessions/', '')]);
  isSilent = false;
  const resumed = await runExample('start.ts', ['--resume', file], { cwd, env });
  expect(resumed.stdout).toContain('Agent: Here I am.');
  expect(resumed.status).toBe(0);
  expect(requests.at(-1)?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'hello' });
});

const hasPseudoTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

/** The program in place of the shell that `script` starts: of a shell that stays, dash say, Ctrl-C would be the end. */
const inShell = (args: string[]): string => `exec ${[process.execPath, ...args].map((word) => `'${word}'`).join(' ')}`;

test
  .runIf(hasPseudoTerminal)
  .concurrent('Ctrl-C while it asks at the keyboard leaves a file, and --resume asks again', async () => {
    const cwd = await emptyFolder();
    const quoted = inShell(exampleArgs('start.ts', []));
    const first = watch('script', ['-qefc', quoted, '/dev/null'], { cwd });
    await first.shows('[r]eject?');
    first.child.stdin?.write('\u0003');
    const { stdout } = await first.finished;
    const file = /--resume (\.sessions\/[\w-]+\.json)/.exec(stdout)?.[1] ?? 'no file';
    expect(JSON.parse(await readFile(join(cwd, file), 'utf8')).state.state).toBe('awaiting-approval');

    const second = watch('script', ['-qefc', `${quoted} --resume ${file}`, '/dev/null'], { cwd });
    await second.shows('[r]eject?');
    second.child.stdin?.write('a\r');
    await second.shows('until you press Ctrl-C');
    second.child.stdin?.write('\u0003');
    const resumed = await second.finished;
    expect(resumed.stdout).toContain('Your train G7349 to Hangzhou is booked');
    expect(resumed.stdout).not.toContain('→ GetWeather');
    expect(resumed.status).toBe(0);

    const third = await runExample('start.ts', ['--resume', file], { cwd });
    expect(third.stdout).not.toContain('BookTrain');
    expect(third.status).toBe(0);
  });

test
  .runIf(hasPseudoTerminal)
  .concurrent(
    'what it asks at the keyboard can be decided on the page that it opens, and the page stays until Ctrl-C',
    async () => {
      const cwd = await emptyFolder();
      const opened = join(cwd, 'opened');
      const browser = join(cwd, 'browser.sh');
      await writeFile(browser, `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 });
      // A desktop that has no browser but this one.
      const env = { DISPLAY: ':99', XDG_DATA_DIRS: cwd, XDG_DATA_HOME: cwd, BROWSER: browser };
      const quoted = inShell(exampleArgs('start.ts', []));
      const running = watch('script', ['-qefc', quoted, '/dev/null'], { cwd, env });
      let printed = '';
      running.child.stdout?.on('data', (piece: Buffer) => (printed += piece.toString()));
      await running.shows('[r]eject?');
      const url = /Inspector: (\S+)/.exec(printed)?.[1] ?? '';
      const { events } = await readStream(url, (streamed) => streamed.events.length >= streamed.hello.last);
      const [, session] = /"type":"session","session":"([^"]+)"/.exec(JSON.stringify(events)) ?? [];
      const [, inputHash] = /"inputHash":"([0-9a-f]{64})"/.exec(JSON.stringify(events)) ?? [];
      const decision = { session, callId: 'call_2_0', inputHash };
      const { status } = await command(url, { type: 'approve', ...decision, input: { from: 'a', to: 'b', seats: 2 } });
      expect(status).toBe(200);
      await running.shows('until you press Ctrl-C');
      running.child.stdin?.write('\u0003');
      const finished = await running.finished;
      expect(finished.stdout).toContain('Decided on the page.');
      expect(finished.stdout).toContain('booked for 146 yuan');
      expect(finished.status).toBe(0);
      expect((await readFile(opened, 'utf8')).trim()).toBe(url);
    },
  );
