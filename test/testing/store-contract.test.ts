import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore, SessionSummary } from '../../src/stores/store.ts';
import { storeContract } from '../../src/testing/store-contract.ts';

/** What is wrong with a store, going by the contract; the race of 1,000 commits is left out. */
const faultsOf = async (store: SessionStore): Promise<string[]> => {
  const found: string[] = [];
  for (const { name, run } of storeContract) {
    if (name.includes('1,000')) continue;
    await run(() => store).catch((error: unknown) => found.push(`${name}: ${String(error)}`));
  }
  return found;
};

const byAge = (one: SessionSummary, other: SessionSummary): number => other.createdAt - one.createdAt;

/** Each is a mistake that somebody who writes a store may make. */
const mistakes: Record<string, (good: SessionStore) => Partial<SessionStore>> = {
  'does not say whether it is durable': () => ({ durable: undefined as unknown as boolean }),
  'lists by the time of making': (good) => ({
    list: async ({ limit = 100, offset = 0, ...options } = {}) => {
      const all = await good.list({ ...options, limit: 10_000 });
      await good.list({ limit, offset });
      return all.toSorted(byAge).slice(offset, offset + limit);
    },
  }),
  'takes a limit of 0 for none': (good) => ({
    list: ({ limit, ...options } = {}) => good.list({ ...options, ...(limit ? { limit } : {}) }),
  }),
  'takes the begin of an agent for its name': (good) => ({
    list: async ({ agent, ...options } = {}) => {
      const all = await good.list(options);
      return all.filter((each) => agent === undefined || each.agent.startsWith(agent));
    },
  }),
  'takes a commit of a session that was deleted into the one that has its id now': (good) => ({
    commit: async (commit) => {
      const known = await good.read(commit.summary.sessionId);
      const { createdAt } = known?.summary ?? commit.summary;
      await good.commit({ ...commit, summary: { ...commit.summary, createdAt } });
    },
  }),
  'keeps the event of a command as the object that it was given': (good) => {
    const given = new Map<number, Parameters<SessionStore['post']>[1]>();
    return {
      post: async (sessionId, event) => {
        const id = await good.post(sessionId, event);
        given.set(id, event);
        return id;
      },
      inbox: async (sessionId) =>
        (await good.inbox(sessionId)).map((command) => ({ ...command, event: given.get(command.id) ?? command.event })),
    };
  },
  'spares sessions that wait': (good) => ({
    deleteBefore: async (time) => {
      await good.list({ changedBefore: time });
      const old = await good.list({ changedBefore: time, limit: 10_000 });
      const gone = old.filter(({ status }) => status !== 'waiting');
      for (const { sessionId } of gone) await good.delete(sessionId);
      return gone.length;
    },
  }),
  'tells no last command but the first': (good) => {
    let first: number | undefined;
    return { lastCommand: async () => (first ??= await good.lastCommand?.()) };
  },
  'looks for refusals of whatever it is given': (good) => ({
    refusals: async (sessionId, options) => {
      if (typeof sessionId === 'string' && sessionId.length < 1000 && sessionId.trim() !== '')
        return good.refusals(sessionId, options).catch(() => []);
      return [];
    },
  }),
};

describe('the contract of stores', () => {
  test('finds nothing wrong with a store that keeps it', async () => {
    expect(await faultsOf(memoryStore())).toEqual([]);
  });

  test.each(Object.entries(mistakes))('finds a store that %s', async (_, mistake) => {
    const good = memoryStore();
    expect(await faultsOf({ ...good, ...mistake(good) })).not.toEqual([]);
  });
});
