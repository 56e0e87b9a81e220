import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../src/messages/message.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { crashEverywhere } from '../../src/testing/crash-everywhere.ts';
import { createLife } from '../../src/testing/crash-life.ts';
import type { CrashEvent } from '../../src/testing/crash-log.ts';
import type { CrashPoint } from '../../src/testing/crash-point.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { forgetfulModel, modelByHistory, modelOfTurns } from '../support/models.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { rejection } from '../support/sessions.ts';
import { scenarios, worldFolder } from './scenarios.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentchart-crash-'));
});
afterAll(async () => {
  for (const each of [folder, worldFolder]) await rm(each, { recursive: true, force: true, maxRetries: 3 });
});

const { unsafe, ...safe } = scenarios;

describe('R38: killed before and after every commit, model call and tool run, a session comes to the same end', () => {
  test.each(Object.entries(safe))('%s', async (_, scenario) => {
    const { counts, crashes, unknown, missed } = await crashEverywhere(scenario);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
    expect(crashes + missed).toBe(2 * (counts.commit + counts['model call'] + counts['tool run']));
    expect(unknown).toBe(0);
    // What happens at the same moment may be one commit or two.
    expect(missed).toBeLessThanOrEqual(2);
  });

  test('on an SQLite file', async () => {
    const store = () => sqliteStore(join(folder, 'sessions.db'));
    for (const name of ['weather', 'expense', 'decisions'] as const) {
      const points = ({ number }: CrashPoint) => name === 'weather' || number % 3 === 0;
      const { crashes, unknown, missed } = await crashEverywhere(scenarios[name], { store, points });
      expect(crashes).toBeGreaterThan(5);
      expect(unknown).toBe(0);
      expect(missed).toBeLessThanOrEqual(2);
    }
  });
});

test('R38: of tools that are neither read-only nor idempotent only the cut-off call is unknown, or repeated, or asked for', async () => {
  const { unknown, crashes } = await crashEverywhere(unsafe);
  // Beside the run of `mail`: after the commit that asks for it until the one that has its result.
  expect(unknown).toBeGreaterThan(2);
  expect(unknown).toBeLessThan(crashes / 2);
});

test('the replies of models that are asked at the same moment are told apart', async () => {
  const events: CrashEvent[] = [];
  const { options } = createLife({
    store: memoryStore(),
    name: 'life',
    log: (event) => void events.push(event),
    reach: async () => undefined,
    isDead: () => false,
  });
  const [along = (model) => model] = options.modelMiddleware;
  const model = along(forgetfulModel(() => 'Yes.'));
  const { signal } = new AbortController();
  const asked = ['left', 'right'].map((content) =>
    model.generate({ messages: [{ role: 'user', content }] }, { signal }),
  );
  const marks = (await Promise.all(asked)).map(({ message }) => message.providerOptions);
  expect(new Set(marks.map((mark) => JSON.stringify(mark))).size).toBe(2);
  expect(events.map((event) => event.type === 'asked' && event.reply)).toEqual(['life-1', 'life-2']);
});

test('R38: a session whose history is kept elsewhere comes to the same end, turn by turn', async () => {
  const histories = new Map<string, Message[]>();
  const said = ['Write.', 'Write more.'];
  const { crashes } = await crashEverywhere({
    agent: ({ options, sessionId }) =>
      createAgent({
        ...options,
        history: {
          load: () => histories.get(sessionId) ?? [],
          append: ({ position, messages }) => {
            histories.set(sessionId, [...(histories.get(sessionId) ?? []).slice(0, position), ...messages]);
          },
        },
        model: modelOfTurns(calls(call('write', { at: 1 })), 'Written.'),
        tools: [toolOf('write', () => 'written', { annotations: { idempotent: true } })],
      }),
    drive: async (session) => {
      const isSaid = (text: string): boolean =>
        [...session.messages, ...(histories.get(session.id) ?? [])].some(({ content }) => content === text);
      for (;;) {
        if (session.status !== 'idle') {
          const result = await session.settled();
          if (said.every(isSaid)) return result;
        }
        await session.send(said.find((text) => !isSaid(text)) ?? '');
      }
    },
  });
  expect(crashes).toBeGreaterThan(20);
});

describe('a crash that does harm is found', () => {
  const text = async (work: Promise<unknown>): Promise<string> => {
    const { code, message } = await rejection(work);
    expect(code).toBe('crash-unsafe');
    return message;
  };
  const model = modelOfTurns(calls(call('write', { at: 1 })), 'Written.');
  const write = toolOf('write', () => 'written', { annotations: { idempotent: true } });

  test('a store that confirms a commit before it has it', async () => {
    const store = memoryStore();
    const late: SessionStore = {
      ...store,
      durable: true,
      commit: async (commit) => {
        if (commit.messages.length === 0 || commit.summary.status !== 'settled') await store.commit(commit);
        else setTimeout(() => void store.commit(commit).catch(() => undefined), 1);
      },
    };
    const message = await text(crashEverywhere(scenarios.weather, { store: () => late }));
    expect(message).toContain('the model was asked again although its reply was stored');
    expect(message).toMatch(/^killed after commit 4:\n/);
    expect(message).toContain('user: What should I wear in Suzhou today?');
  });

  test('a message that is sent again', async () => {
    const message = await text(
      crashEverywhere({
        agent: ({ options }) => createAgent({ ...options, model, tools: [write] }),
        drive: async (session) => {
          await session.send('Write.');
          return session.settled();
        },
      }),
    );
    expect(message).toContain(`the users' messages are ["Write.","Write."]; without a crash ["Write."]`);
  });

  test('a tool that says it may be repeated and has another effect each time', async () => {
    let written = 0;
    const message = await text(
      crashEverywhere({
        agent: ({ options }) => {
          const model = modelByHistory([
            calls(call('count')),
            ({ messages }) => JSON.stringify(messages.at(-1)?.content),
          ]);
          const count = toolOf('count', () => `${++written}`, { annotations: { idempotent: true } });
          return createAgent({ ...options, model, tools: [count] });
        },
        drive: async (session) => {
          if (session.status === 'idle') await session.send('Count.');
          return session.settled();
        },
      }),
    );
    expect(message).toMatch(/^killed before commit 1:\n  - the end is .*\n  the history then:\n  user: Count\.\n/);
  });

  test('a session that comes to no end', async () => {
    const script = scriptedModel([calls(call('write')), 'Written.']);
    const message = await text(
      crashEverywhere({
        agent: ({ options }) => createAgent({ ...options, model: script, tools: [write] }),
        drive: async (session) => {
          if (session.status === 'idle') await session.send('Write.');
          return session.settled();
        },
      }),
    );
    expect(message).toContain('it came to no end: TurnError model-error');
  });

  test.each([
    ['commit', 'store'],
    ['model call', 'modelMiddleware'],
    ['tool run', 'toolMiddleware'],
  ])('an agent that is made without what would see every %s is refused', async (what, leftOut) => {
    const { code, message } = await rejection(
      crashEverywhere({
        agent: ({ options }) => {
          const given = Object.entries(options).filter(([option]) => option !== leftOut);
          return createAgent({ ...Object.fromEntries(given), model, tools: [write] });
        },
        drive: async (session) => {
          if (session.status === 'idle') await session.send('Write.');
          return session.settled();
        },
      }),
    );
    expect({ code, message }).toEqual({
      code: 'invalid-option',
      message: `no ${what} of the scenario can be seen: its agent has to be made with all of \`options\`, createAgent({ ...options, … })`,
    });
  });

  test('a store that is not durable is refused', async () => {
    const { code } = await rejection(crashEverywhere(scenarios.weather, { store: memoryStore }));
    expect(code).toBe('invalid-option');
  });

  test('stores that are not on the same data are refused, before any crash', async () => {
    const store = () => ({ ...memoryStore(), durable: true });
    const { code, message } = await rejection(crashEverywhere(scenarios.weather, { store }));
    expect(code).toBe('invalid-option');
    expect(message).toContain('open it on the same data each time');
  });
});
