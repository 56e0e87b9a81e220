import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createExpenseAgent } from '../../examples/expense/create-expense-agent.ts';
import { expenseScript } from '../../examples/local-model/expense-script.ts';
import { weatherScript } from '../../examples/local-model/weather-script.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { RunResult, Session } from '../../src/sessions/session.ts';
import type { CrashScenario } from '../../src/testing/crash-scenario.ts';
import { tool } from '../../src/tools/tool.ts';
import type { PendingCall } from '../../src/tools/call.ts';
import { forgetfulModel, modelByHistory, modelOfScript } from '../support/models.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

/** What the scenarios of one test file keep outside of sessions. Workers share a process, and must not share this; those that are killed inherit it. */
export const worldFolder = (process.env['CRASH_FOLDER'] ??= mkdtempSync(join(tmpdir(), 'agentchart-world-')));

/** True once for each name, in whichever process: what outlives a crash lies in files. */
const isFirst = (sessionId: string, name: string): boolean => {
  try {
    writeFileSync(join(worldFolder, `${sessionId}-${name}`), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
};

const has = (session: Session, text: string): boolean => JSON.stringify(session).includes(JSON.stringify(text));

/** Sends what is not there yet, decides what waits, until nothing does. */
const talk = async (
  session: Session,
  said: readonly string[],
  decide: (session: Session, call: PendingCall) => Promise<void> = (at, { callId }) => at.approve(callId),
): Promise<RunResult> => {
  for (;;) {
    if (session.status !== 'idle') {
      const result = await session.settled();
      for (const waiting of result.pending) await decide(session, waiting);
      if (result.pending.length > 0) continue;
      if (said.every((text) => has(session, text))) return result;
    }
    const next = said.find((text) => !has(session, text));
    if (next !== undefined) await session.send(next);
  }
};

const readOnly = { annotations: { readOnly: true } };
const idempotent = { annotations: { idempotent: true } };

const weather: CrashScenario = {
  agent: ({ options }) =>
    createAgent({
      ...options,
      model: modelOfScript(weatherScript),
      tools: [
        tool({
          name: 'GetWeather',
          inputSchema: z.object({ location: z.string() }),
          annotations: { readOnly: true },
          execute: ({ location }) => ({ location, condition: 'light rain', celsius: 16 }),
        }),
      ],
    }),
  drive: (session) => talk(session, ['What should I wear in Suzhou today?']),
};

const expense: CrashScenario = {
  agent: ({ options, sessionId }) => {
    const ledger = join(worldFolder, `${sessionId}.json`);
    return createExpenseAgent(modelOfScript(expenseScript), ledger, options);
  },
  drive: (session) => talk(session, ['Pay 8000 to Mei for the March trip.', 'Pay 300 to Jo for lunch.']),
};

const parallel: CrashScenario = {
  agent: ({ options }) =>
    createAgent({
      ...options,
      concurrency: 2,
      model: modelByHistory([
        calls(call('look', { at: 1 }), call('write', { at: 2 }), call('look', { at: 3 }), call('write', { at: 4 })),
        calls(call('write', { at: 5 }), call('look', { at: 6 })),
        'All looked at.',
      ]),
      tools: [
        toolOf('look', async ({ at }) => `seen ${String(at)}`, readOnly),
        toolOf('write', async ({ at }) => `written ${String(at)}`, idempotent),
      ],
    }),
  // Somebody reads along: the replies are streamed.
  drive: async (session) => {
    const reading = (async () => {
      for await (const _event of session.events());
    })();
    const result = await talk(session, ['Look at all.']);
    await session[Symbol.asyncDispose]();
    await reading;
    return result;
  },
};

/** Neither read-only nor idempotent, one for each way to go on. */
const unsafe: CrashScenario = {
  agent: ({ options }) =>
    createAgent({
      ...options,
      model: modelByHistory([
        calls(call('mail', { to: 'Mei' }), call('again', { to: 'Jo' })),
        calls(call('asks', { to: 'Ann' })),
        'All sent.',
      ]),
      tools: [
        toolOf('mail', ({ to }) => `sent to ${String(to)}`),
        toolOf('again', ({ to }) => `sent to ${String(to)}`, { onInterrupted: 'retry' }),
        toolOf('asks', ({ to }) => `sent to ${String(to)}`, { onInterrupted: 'ask' }),
      ],
    }),
  drive: (session) => talk(session, ['Send them.']),
};

const nested: CrashScenario = {
  agent: ({ options }) => {
    const inner = createAgent({
      ...options,
      name: 'inner',
      model: modelByHistory([calls(call('look', { in: 'here' }), call('pay', { amount: 5 })), 'The inner answer.']),
      tools: [
        toolOf('look', () => 'seen', readOnly),
        toolOf('pay', () => 'paid', { ...idempotent, needsApproval: true }),
      ],
    });
    return createAgent({
      ...options,
      model: modelByHistory([
        calls(call('ask', { prompt: 'left' }), call('ask', { prompt: 'right' }), call('look', {})),
        'The outer answer.',
      ]),
      tools: [inner.asTool({ name: 'ask' }), toolOf('look', () => 'seen', readOnly)],
    });
  },
  drive: (session) => talk(session, ['Ask both.']),
};

/** Approved as it is, with an edit, rejected, and answered by the application. */
const decisions: CrashScenario = {
  agent: ({ options }) =>
    createAgent({
      ...options,
      model: modelByHistory([
        calls(call('pay', { amount: 1 }), call('pay', { amount: 2 }), call('pay', { amount: 3 }), call('form', {})),
        'All decided.',
      ]),
      tools: [
        tool({
          name: 'pay',
          inputSchema: z.object({ amount: z.number().max(100) }),
          annotations: { idempotent: true },
          needsApproval: true,
          execute: ({ amount }) => `paid ${amount}`,
        }),
        outsideTool('form'),
      ],
    }),
  drive: (session) =>
    talk(session, ['Pay three times.'], async (at, { callId, tool: name, input, inputHash }) => {
      if (name === 'form') return at.respond(callId, { filled: true }, { inputHash });
      const { amount } = input as { amount: number };
      if (amount === 1) return at.approve(callId, { inputHash, by: 'ann' });
      if (amount === 2) return at.approve(callId, { input: { amount: 20 }, inputHash });
      return at.reject(callId, { reason: 'too much', inputHash });
    }),
};

const atOnce = { attempts: 3, initialDelay: 0, maxDelay: 0 };

/** A model and a tool that fail the first time. */
const retries: CrashScenario = {
  agent: ({ options, sessionId }) =>
    createAgent({
      ...options,
      retry: atOnce,
      model: forgetfulModel(({ messages }) => {
        const replies = messages.filter(({ role }) => role === 'assistant').length;
        if (isFirst(sessionId, `model-${replies}`))
          return new ModelError('model-request-failed', 'busy', { transient: true });
        return replies === 0 ? calls(call('shaky', { to: 'Mei' }), call('write', {})) : 'It worked.';
      }),
      tools: [
        toolOf(
          'shaky',
          (_, { attempt }) => {
            if (attempt === 1) throw new Error('not now');
            return 'done';
          },
          { ...idempotent, retry: atOnce },
        ),
        toolOf('write', () => 'written', idempotent),
      ],
    }),
  drive: (session) => talk(session, ['Try it.']),
};

const waiting = new Map<string, PromiseWithResolvers<void>>();

/** Stopped while a tool runs, then another turn. Killed while it stops, it does not begin again. */
const stopped: CrashScenario = {
  agent: ({ options, sessionId }) => {
    waiting.set(sessionId, Promise.withResolvers());
    return createAgent({
      ...options,
      model: forgetfulModel(({ messages }) =>
        messages.some(({ content }) => content === 'Go on.') ? 'Done.' : calls(call('wait', {}), call('look', {})),
      ),
      tools: [
        toolOf('look', () => 'seen', readOnly),
        toolOf(
          'wait',
          (_, { signal }) =>
            new Promise((_resolve, reject) => {
              waiting.get(sessionId)?.resolve();
              signal.addEventListener('abort', () => reject(signal.reason as Error));
            }),
          readOnly,
        ),
      ],
    });
  },
  drive: async (session) => {
    if (session.status === 'idle') await session.send('Wait.');
    if (!has(session, 'Go on.')) {
      const began = waiting.get(session.id)?.promise;
      if (session.status === 'busy' && session.actor.getSnapshot().context.turn.stopping === undefined) {
        await began;
        await session.stop('enough');
      } else if (session.status === 'busy') {
        await Promise.race([
          session.settled(),
          began?.then(() => {
            throw new Error('what was told to stop began again');
          }),
        ]);
      }
      await session.send('Go on.');
    }
    return session.settled();
  },
};

const soon = <T>(value: T): Promise<T> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.random() * 4, value);
  });

const sayings = ['One.', 'Two.', 'Three.', 'Four.'];

/** Some turns with tools of every kind and a decision, each of which takes a moment. */
export const load: CrashScenario = {
  agent: ({ options }) => {
    const pieces = { to: 'Mei', text: 'x'.repeat(200) };
    return createAgent({
      ...options,
      model: forgetfulModel(({ messages }) => async () => {
        await soon(undefined);
        if (messages.at(-1)?.role !== 'tool')
          return calls(call('look', pieces), call('pay', pieces), call('mail', pieces));
        const turn = messages.filter(({ role }) => role === 'user').length;
        return messages.filter(({ role }) => role === 'tool').length < 2 * turn
          ? calls(call('gated', { turn }), call('look', pieces))
          : `Answer ${turn}.`;
      }),
      tools: [
        toolOf('look', () => soon('y'.repeat(500)), readOnly),
        toolOf('pay', () => soon('paid'), idempotent),
        toolOf('mail', () => soon('sent')),
        toolOf('gated', () => soon('done'), { ...idempotent, needsApproval: true }),
      ],
    });
  },
  drive: (session) => talk(session, sayings),
};

export const scenarios = { weather, expense, parallel, unsafe, nested, decisions, retries, stopped };
