import { isPlainObject } from '../messages/json.ts';
import { partsOf } from '../sessions/agent-parts.ts';
import type { Agent } from '../sessions/agent.ts';
import { type Bound, checkOne, has } from '../sessions/option-bounds.ts';
import type { RunResult, Session } from '../sessions/session.ts';
import type { SessionStore } from '../stores/store.ts';
import type { CrashEnd } from './crash-check.ts';
import { type CrashOptions, createLife } from './crash-life.ts';
import type { CrashEvent } from './crash-log.ts';
import { type CrashCounts, type CrashPoint, isSamePoint } from './crash-point.ts';

/**
 * One session from its first message to its end, as a program does it that may be killed at any moment and is then started again.
 * Both functions are called in every life of the session; what has to outlive a crash in the tools lies outside, such as in a file
 * that is named for the session. The model should answer by what it is asked, not by how often.
 */
export interface CrashScenario {
  /** The same agent every time, made with the options. */
  agent(life: { options: CrashOptions; sessionId: string }): Agent | Promise<Agent>;
  /**
   * Goes on from where the session is: sends the message where it was never delivered, decides what waits. Resolves with the result of the
   * last turn.
   */
  drive(session: Session, agent: Agent): Promise<Pick<RunResult, 'outcome' | 'text' | 'output'>>;
}

export interface LifeOptions {
  store: SessionStore;
  sessionId: string;
  name: string;
  log(event: CrashEvent): void;
  crashAt?: CrashPoint | undefined;
  /** Does not come back where it ends the process; else the life is abandoned. */
  die(): void;
}

/** How a life came to its end; `end` is undefined where it died. */
export interface Lived {
  end: CrashEnd | undefined;
  counts: CrashCounts;
  /** Of the agent: those that are run. */
  tools?: readonly string[];
}

/** A life that takes longer than this hangs. */
const longestLife = 10_000;

const never = new Promise<never>(() => undefined);

const result: Bound = {
  says: 'the result of the last turn, as session.settled() and agent.run() give it',
  holds: (value) => isPlainObject(value) && isPlainObject(value['outcome']) && typeof value['text'] === 'string',
};

/** Throws `invalid-option` for what is no scenario. */
export const checkScenario = (given: unknown, where: string): void =>
  checkOne(
    given,
    has('a scenario: an object with the functions agent and drive', 'agent', 'drive'),
    `${where}: the scenario`,
  );

/** Opens the session and drives it. Rejects with what the scenario rejects with, or where it comes to no end within 10 s. */
export const live = async (scenario: CrashScenario, options: LifeOptions): Promise<Lived> => {
  const { store, sessionId, name, log, crashAt, die } = options;
  const death = Promise.withResolvers<undefined>();
  let isDead = false;
  const life = createLife({
    store,
    name,
    log,
    isDead: () => isDead,
    reach: async (point) => {
      if (crashAt === undefined || !isSamePoint(point, crashAt)) return;
      isDead = true;
      die();
      death.resolve(undefined);
      await never;
    },
  });
  const agent = await scenario.agent({ options: life.options, sessionId });
  partsOf(agent, 'crashEverywhere: the scenario');
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it came to no end within ${longestLife} ms`)), longestLife);
  });
  const driving = (async (): Promise<CrashEnd> => {
    const session = await agent.open(sessionId);
    const driven = await scenario.drive(session, agent);
    checkOne(driven, result, 'crashEverywhere: what drive gives');
    const { outcome, text, output } = driven;
    const isElsewhere = session.actor.getSnapshot().context.elsewhere !== undefined;
    const messages = structuredClone(session.messages);
    return { result: { outcome, text, output }, messages, ...(isElsewhere ? { isElsewhere } : {}) };
  })();
  try {
    const end = await Promise.race([driving, death.promise, late]);
    if (end !== undefined) await agent.close();
    const run = agent.tools.filter((tool) => tool.execute !== undefined && tool.agent === undefined);
    return { end, counts: life.counts, tools: run.map((tool) => tool.name) };
  } finally {
    clearTimeout(timer);
    // Of one that died nothing is to go on; that it never ends, since the store does not answer it, is of no interest.
    driving.catch(() => undefined);
    agent.close().catch(() => undefined);
    await life.idle();
  }
};
