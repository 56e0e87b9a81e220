import type { AnyActorRef } from 'xstate';
import { chartOf } from './chart.ts';
import type { HistorySource, InspectedStore, StoredHistory } from './history-source.ts';
import type { InspectedAgent } from './inspected-agent.ts';
import { activeStates, isMachineSnapshot, machineOf } from './machine-notes.ts';
import type { ProtocolEvent } from './protocol.ts';
import { type Teller, createTeller } from './store-teller.ts';
import { pathOf } from './timeline.ts';

/** Looks at a session as it was at a revision, by an actor that never starts. */
export type LookAt = (id: string, revision: number) => Promise<AnyActorRef>;

const perPage = 200;
/** Revisions that are looked at in one go, and the characters that are read for it; of more as many, evenly. All transitions are told. */
const maxLooks = 200;
const maxRead = 40_000_000;
const maxKept = 8;

const parsed = (text: string): unknown => JSON.parse(text) as unknown;

/** So many numbers from `first` to `last`, evenly, the last one among them. */
const chosenBetween = (first: number, last: number, count: number): Set<number> => {
  const chosen = new Set([last]);
  const step = Math.max(1, (last - first + 1) / count);
  for (let revision = first; revision <= last; revision += step) chosen.add(Math.floor(revision));
  return chosen;
};

/** Of a session that came into the store as a document: no step led there. */
const stateOf = (actor: AnyActorRef | undefined): string => {
  const snapshot: unknown = actor?.getSnapshot();
  return isMachineSnapshot(snapshot) ? pathOf(activeStates(snapshot)) : 'idle';
};

interface Kept {
  history: StoredHistory & { events: ProtocolEvent[]; revisions: number[] };
  teller: Teller;
  agent: InspectedAgent | undefined;
  createdAt: number;
  at: number;
  /** The newest one that was told. */
  revision: number;
}

type Summary = NonNullable<Awaited<ReturnType<InspectedStore['read']>>>['summary'];

/**
 * The sessions of a store, with their past, as if they had been recorded. An agent of the same name tells of its tools and limits, and
 * looks at contexts and calls as they were at each revision; `lookAt` does so where there is no such agent. Without either there are
 * the transitions and the messages. Nothing is opened, claimed or run.
 */
export const storeHistory = (
  store: InspectedStore,
  agents: readonly InspectedAgent[] = [],
  lookAt?: LookAt,
): HistorySource => {
  const kept = new Map<string, Kept>();
  const reading = new Map<string, Promise<StoredHistory | undefined>>();

  const look = async (agent: InspectedAgent | undefined, id: string, at: number): Promise<AnyActorRef | undefined> => {
    try {
      return agent === undefined ? await lookAt?.(id, at) : (await agent.open(id, { at })).actor;
    } catch {
      // A revision of an older machine, say: its transitions are still told.
      return undefined;
    }
  };

  const begin = async (id: string, { agent: name, createdAt, revision }: Summary): Promise<Kept> => {
    const agent = agents.find((each) => each.name === name);
    const machine = agent?.machine ?? machineOf((await look(undefined, id, revision)) ?? ({} as AnyActorRef));
    const events: ProtocolEvent[] = [];
    const revisions: number[] = [];
    const made: Kept = {
      history: { run: crypto.randomUUID(), events, revisions },
      teller: createTeller({
        session: id,
        name,
        agent,
        chart: machine === undefined ? undefined : chartOf(machine),
        tell: (at, told) => {
          events.push({ seq: events.length + 1, at, ...told });
          revisions.push(made.revision);
        },
      }),
      agent,
      createdAt,
      at: createdAt,
      revision: 0,
    };
    return made;
  };

  /** Tells what came since. */
  const goOn = async (id: string, of: Kept, messages: readonly string[], last: number): Promise<void> => {
    const { teller, agent } = of;
    const steps = await store.history(id, { after: of.revision });
    if (of.revision === 0) teller.begin(of.createdAt, steps[0]?.from ?? stateOf(await look(agent, id, 1)));
    const length = messages.reduce((sum, text) => sum + text.length, 1_000);
    const looks = Math.max(10, Math.min(maxLooks, Math.floor(maxRead / length)));
    const chosen = chosenBetween(of.revision + 1, last, looks);
    let read = 0;
    for (let revision = of.revision + 1; revision <= last; revision += 1) {
      const from = read;
      while ((steps[read]?.revision ?? Infinity) <= revision) read += 1;
      const taken = steps.slice(from, read);
      of.revision = revision;
      of.at = taken.at(-1)?.at ?? of.at;
      teller.steps(taken);
      if (!chosen.has(revision)) continue;
      const actor = await look(agent, id, revision);
      if (actor !== undefined) teller.look(of.at, actor);
      else if (revision === last) teller.say(of.at, messages.map(parsed));
    }
  };

  const read = async (id: string): Promise<StoredHistory | undefined> => {
    const stored = await store.read(id);
    if (stored === undefined) {
      kept.delete(id);
      return undefined;
    }
    const { summary, messages } = stored;
    const before = kept.get(id);
    // A session that was deleted and made again is another one.
    const isSame = before?.createdAt === summary.createdAt && before.revision <= summary.revision;
    const of = before !== undefined && isSame ? before : await begin(id, summary);
    kept.delete(id);
    kept.set(id, of);
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
    if (of.revision < summary.revision) await goOn(id, of, messages, summary.revision);
    return of.history;
  };

  return {
    list: async ({ limit = perPage, offset = 0 } = {}) =>
      (await store.list({ limit, offset })).map(({ sessionId, agent, status, pending, revision, updatedAt }) => ({
        id: sessionId,
        agent,
        status,
        pending,
        revision,
        changedAt: updatedAt,
      })),
    history: (id) => {
      // Two that ask at once are told once.
      const running = (reading.get(id) ?? Promise.resolve(undefined)).catch(() => undefined).then(() => read(id));
      reading.set(id, running);
      const forget = (): void => {
        if (reading.get(id) === running) reading.delete(id);
      };
      running.then(forget, forget);
      return running;
    },
  };
};
