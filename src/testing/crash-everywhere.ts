import { AgentError } from '../errors.ts';
import { type Bound, checkGiven, isA } from '../sessions/option-bounds.ts';
import { newId } from '../sessions/new-id.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { SessionStore } from '../stores/store.ts';
import type { CrashEvent } from './crash-log.ts';
import { type ChoosePoints, type CrashReport, tryEverywhere } from './crash-report.ts';
import { type CrashScenario, checkScenario, live } from './crash-scenario.ts';
import type { OpenStore } from './store-case.ts';

export interface CrashEverywhereOptions {
  /** Opens a store; each call another one, or the same, but all on the same data. Default: one in memory that is durable. */
  store?: OpenStore;
  points?: ChoosePoints;
}

const rules = { store: isA('function'), points: isA('function') } satisfies Record<keyof CrashEverywhereOptions, Bound>;

/** Sessions that outlive their agent, as if memory outlived the process. */
const durableMemory = (): OpenStore => {
  const store: SessionStore = { ...memoryStore(), durable: true };
  return () => store;
};

/**
 * Runs a scenario once, then once for every commit, model call and tool run with a crash before it and a crash after it, and goes on after
 * each with a new agent. Rejects with `crash-unsafe` where a crash can be seen in what came of it: another answer, a message lost or
 * doubled, a call without its one result, a stored reply or result asked for again, a tool run twice that is neither `readOnly` nor
 * `idempotent`. Such a call may settle as `outcome-unknown`; what comes after that is the model's.
 *
 * The crash is played: at the point nothing more reaches the store, a model or a tool, and the agent is abandoned. A tool that was under way runs on
 * in this process, though nobody hears of it. `killEverywhere` kills a real process.
 *
 * ```ts
 * const report = await crashEverywhere({
 *   agent: ({ options }) => createAgent({ ...options, model, tools }),
 *   drive: async (session) => {
 *     if (session.status === 'idle') void session.send('Pay 8000 to Mei.');
 *     const result = await session.settled();
 *     for (const { callId } of result.pending) await session.approve(callId);
 *     return session.settled();
 *   },
 * });
 * ```
 */
export const crashEverywhere = async (
  scenario: CrashScenario,
  options: CrashEverywhereOptions = {},
): Promise<CrashReport> => {
  checkScenario(scenario, 'crashEverywhere');
  checkGiven(options, rules, 'crashEverywhere');
  const { store: open = durableMemory(), points = () => true } = options;
  return tryEverywhere(() => {
    const sessionId = `session-${newId()}`;
    const events: CrashEvent[] = [];
    const life = async (name: string, crashAt?: Parameters<ChoosePoints>[0]) => {
      const store = await open();
      if (!store.durable)
        throw new AgentError('invalid-option', 'crashEverywhere: a store that is not durable loses every crash');
      const log = (event: CrashEvent) => void events.push(event);
      try {
        return await live(scenario, { store, sessionId, name, log, crashAt, die: () => undefined });
      } finally {
        await store.close();
      }
    };
    return { sessionId, events, open, first: (point) => life('first', point), second: () => life('second') };
  }, points);
};
