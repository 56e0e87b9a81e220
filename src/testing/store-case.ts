import { canonicalJson } from '../messages/json.ts';
import { checkOne, has, isA } from '../sessions/option-bounds.ts';
import { newId } from '../sessions/new-id.ts';
import type { Commit, SessionStore, SessionSummary } from '../stores/store.ts';

/** Gives a store object; each call another one, or the same, but all on the same data. */
export type OpenStore = () => SessionStore | Promise<SessionStore>;

/** One promise of `SessionStore`. `run` rejects with an `Error` that says what was broken. */
export interface StoreCase {
  name: string;
  run(open: OpenStore): Promise<void>;
}

/** What a case works with. `agent` is this run's alone: lists are asked for it. */
export interface Bench {
  store: SessionStore;
  /** Another store object on the same data. */
  another(): Promise<SessionStore>;
  agent: string;
  sessionId: string;
}

const isStore = has(
  'a SessionStore: an object with the functions read, commit, close and so on',
  'read',
  'commit',
  'close',
);

/** Opens a store for the check and closes what was opened. */
export const storeCase = (name: string, check: (bench: Bench) => Promise<void>): StoreCase => ({
  name,
  run: async (open) => {
    checkOne(open, isA('function'), 'storeContract: what opens a store');
    const opened: SessionStore[] = [];
    const another = async (): Promise<SessionStore> => {
      const store = await open();
      checkOne(store, isStore, 'storeContract: what opens a store gave something that');
      opened.push(store);
      return store;
    };
    try {
      await check({ store: await another(), another, agent: `agent-${newId()}`, sessionId: `session-${newId()}` });
    } finally {
      for (const store of opened) await store.close();
    }
  },
});

export const start = Date.UTC(2026, 0, 1);

/** A commit with one message and one transition, all of it telling its revision. */
export const commitOf = (
  { agent, sessionId }: { agent: string; sessionId: string },
  revision: number,
  changes: Partial<Omit<Commit, 'summary'>> & { summary?: Partial<SessionSummary> } = {},
): Commit => {
  const { summary, ...rest } = changes;
  return {
    state: `{"state":${revision}}`,
    isWhole: true,
    messages: [`{"message":${revision}}`],
    transitions: [{ from: `state-${revision - 1}`, to: `state-${revision}`, event: 'go' }],
    taken: [],
    refused: [],
    ...rest,
    summary: {
      sessionId,
      agent,
      machineVersion: 1,
      status: 'busy',
      pending: 0,
      messages: revision,
      revision,
      createdAt: start,
      updatedAt: start + revision,
      ...summary,
    },
  };
};

const shown = (value: unknown): string => {
  const text = value === undefined ? 'undefined' : canonicalJson(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

/** Throws unless both are the same data. */
export const same = (actual: unknown, expected: unknown, what: string): void => {
  if ((actual === undefined) === (expected === undefined) && canonicalJson(actual) === canonicalJson(expected)) return;
  throw new Error(`${what}: expected ${shown(expected)}, got ${shown(actual)}`);
};

/** Throws unless the work rejects, or throws, with this code. */
export const refuses = async (code: string, what: string, work: () => unknown): Promise<void> => {
  let answer: unknown;
  try {
    answer = await work();
  } catch (error) {
    same((error as { code?: unknown } | null)?.code, code, `the error's code, ${what}`);
    return;
  }
  throw new Error(`${what}: expected the error ${code}, got ${shown(answer)}`);
};
