import type { AgentEvent } from '../sessions/agent-event.ts';
import { EventBuffer } from '../sessions/event-buffer.ts';
import type { Line } from './audiences.ts';
import { type NewsFeed, createNewsFeed } from './news.ts';
import type { Joined } from './protocol.ts';

export interface LiveSource {
  /** Where each worker tells of the session. */
  urls: readonly string[];
  /** The turn so far; null where there is no session yet. */
  join(): Promise<Joined | null>;
  /** Resolves with the session's revision when it rests, or has moved on from a rest at that revision. */
  changed(joined: Pick<Joined, 'revision' | 'isResting'>): Promise<Pick<Joined, 'revision' | 'isResting'>>;
}

type StepLine = Extract<Line, { type: 'step' }>;

/** ms that what came too early waits for what belongs before it; then the engine is asked how things are. */
const patience = 500;

const nothing: Joined = {
  revision: 0,
  asking: null,
  isResting: true,
  events: [{ type: 'joined', turn: 0, messages: [], toldAgain: 0 }],
};

/** Tells of every rest, and of the end of it: then nothing is missed where no worker can be heard. */
const watchEngine = async (source: LiveSource, news: NewsFeed, first: Joined, signal: AbortSignal): Promise<void> => {
  let at: Pick<Joined, 'revision' | 'isResting'> = first;
  while (!signal.aborted) {
    at = await source.changed(at);
    news.push({ type: 'engine', revision: at.revision });
  }
};

/**
 * The events of a session from now on, the turn so far first. Workers tell what they do as it happens; what they do not tell (one is lost, or
 * cannot be reached) is told as the turn so far once more, beginning with another `joined`. Throws where the engine cannot tell any more.
 */
export const readLive = async function* (source: LiveSource, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const news = createNewsFeed(source.urls, signal);
  await news.ready;
  /** What was said in the model call under way. */
  const said = new EventBuffer();
  const over = new Set<string>();
  const early = new Map<number, StepLine>();
  let held: Extract<Line, { type: 'deltas' }>[] = [];
  let [revision, engine, asking]: [number, number, string | null] = [0, 0, null];

  const ask = (model: string | null): void => {
    if (model === asking) return;
    if (asking !== null) over.add(asking);
    asking = model;
    said.clear();
  };
  const hear = (line: Extract<Line, { type: 'deltas' }>): AgentEvent[] => {
    const { model, events } = line;
    if (model !== undefined && over.has(model)) return [];
    if (model !== undefined && model !== asking) {
      held.push(line);
      return [];
    }
    if (model !== undefined) for (const event of events) said.join(event);
    return events;
  };
  const hearHeld = (): AgentEvent[] => {
    const lines = held;
    held = [];
    return lines.flatMap(hear);
  };
  const take = function* (line: StepLine): Generator<AgentEvent> {
    if (line.from > revision) {
      early.set(line.from, line);
      return;
    }
    for (let next: StepLine | undefined = line; next !== undefined; next = early.get(revision)) {
      early.delete(next.from);
      if (next.from < revision) return;
      yield* next.events;
      if (next.revision === revision) return;
      revision = next.revision;
      ask(next.asking);
      yield* hearHeld();
    }
  };
  const rejoin = async function* (): AsyncGenerator<AgentEvent> {
    const joined = (await source.join()) ?? nothing;
    revision = joined.revision;
    engine = Math.max(engine, revision);
    for (const from of early.keys()) if (from < revision) early.delete(from);
    ask(joined.asking);
    yield* joined.events;
    yield* said.list();
    held = held.filter(({ model }) => model === asking);
    yield* hearHeld();
    const next = early.get(revision);
    if (next !== undefined) yield* take(next);
  };

  const first = (await source.join()) ?? nothing;
  [revision, engine, asking] = [first.revision, first.revision, first.asking];
  yield* first.events;
  watchEngine(source, news, first, signal).catch((error: unknown) => news.push({ type: 'lost', error }));
  while (!signal.aborted) {
    const isBehind = engine > revision || early.size > 0;
    const next = await news.next(isBehind ? patience : undefined);
    if (signal.aborted) return;
    if (next === undefined) yield* rejoin();
    else if (next.type === 'step') yield* take(next);
    else if (next.type === 'deltas') yield* hear(next);
    else if (next.type === 'engine') engine = Math.max(engine, next.revision);
    else if (next.type === 'lost') throw next.error;
    else {
      said.clear();
      yield* rejoin();
    }
  }
};
