import { type ObjectContext, type ObjectSharedContext, TimeoutError, handlers, object } from '@restatedev/restate-sdk';
import { AgentError, type ErrorData, errorData } from '../errors.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import { inputHash } from '../tools/input-hash.ts';
import { checkSince, checkWait } from './check-asked.ts';
import { checkTold } from './check-told.ts';
import { createCalls } from './engine-calls.ts';
import { type Head, type Waiter, isOver, joinedBy } from './head.ts';
import { advanced } from './known-session.ts';
import { createLiveSession } from './live-session.ts';
import type { Names } from './names.ts';
import {
  type Answer,
  type Found,
  type Joined,
  type Reading,
  type Refused,
  type Settled,
  type Told,
  type View,
} from './protocol.ts';
import { type Wait, isAtEnd, isResting, nothingYet } from './protocol.ts';
import { getAll, readChunks, readingOf } from './read-state.ts';
import type { Served } from './served.ts';
import { keys } from './state-keys.ts';
import { type Running, keyOf } from './step.ts';
import { createStepper } from './stepper.ts';
import { untilAgain } from './unfit.ts';

/** ms for which one call waits. */
const patience = 60_000;
/** ms for which it is remembered: longer, as the clocks of workers differ. */
const remembered = 2 * patience;

const anotherCommand = (id: string): AgentError =>
  new AgentError('invalid-option', `the id ${JSON.stringify(id)} was given to another command before`);

/** Of the turn that is under way. */
const endOf = (head: Head | null): Pick<Answer, 'end'> =>
  head === null || isAtEnd(head.summary.status) ? {} : { end: (head.ends ?? 0) + 1 };

/** Whatever comes of it, it does so every time: nobody is to try again. */
const takenUp = <T extends object>(take: () => T): T | Refused => {
  try {
    return take();
  } catch (error) {
    return { error: errorData(error) };
  }
};

type AtWork = Record<string, Running>;

/** One session: its events one after the other, its state, and nothing that takes long. */
export const sessionObject = (names: Names, served: Served) => {
  const calls = createCalls(names);
  const stepper = createStepper(served, calls);

  const headOf = (ctx: Pick<ObjectContext, 'get'>): Promise<Head | null> => ctx.get<Head>(keys.head);

  const command = async (ctx: ObjectContext, told: Told): Promise<Answer> => {
    const refused = await checkTold(ctx.key, told, served.key);
    if (refused !== undefined) return { error: refused };
    const [seen, seenHash, head, atWork] = await getAll<[Answer, string, Head, AtWork]>(ctx, [
      keys.told(told.id),
      keys.asked(told.id),
      keys.head,
      keys.running,
    ]);
    const hash = inputHash(told.command);
    if (seenHash !== null && seenHash !== hash) return { error: errorData(anotherCommand(told.id)) };
    if (seen !== null) return seen;
    const running = atWork ?? {};
    const { answer: given, next } = await stepper.compute(ctx, { head, running, input: { told } });
    const answer = told.command.type === 'stop' ? { ...given, ...endOf(head) } : given;
    if (next !== undefined) {
      ctx.set(keys.told(told.id), answer);
      ctx.set(keys.asked(told.id), hash);
      await stepper.apply(ctx, { head, running }, next);
    }
    return answer;
  };

  const settle = async (ctx: ObjectContext, settled: Settled): Promise<void> => {
    const [head, running] = await getAll<[Head, AtWork]>(ctx, [keys.head, keys.running]);
    const key = keyOf(settled.path);
    // Nobody waits for it any more.
    if (head === null || running?.[key]?.id !== settled.id) return;
    const { next, isEarly, isUnfit } = await stepper.compute(ctx, { head, running, input: { settled } });
    if (isUnfit === true) {
      // Not kept here: who holds a session keeps its commands away. Nor does `running` know of it: a stop would take it for the work, and end it.
      const { tries = 0 } = settled;
      void calls.settle(ctx, ctx.key, { ...settled, tries: tries + 1 }, untilAgain(tries));
      // Whoever waits asks again, and is told.
      for (const { awakeable } of head.waiters) ctx.resolveAwakeable(awakeable);
      ctx.set(keys.head, { ...head, waiters: [], isStuck: true });
      return;
    }
    if (isEarly === true) {
      const { path, id, at = 0 } = settled;
      const delay = Math.max(1, Math.ceil(at - (await ctx.date.now())));
      const invocation = await calls.settle(ctx, ctx.key, settled, delay);
      ctx.set(keys.running, { ...running, [key]: { path, id, invocation } });
    }
    // What has just come to its end needs no cancelling.
    const { [key]: _settled, ...others } = running;
    if (next !== undefined) await stepper.apply(ctx, { head, running: others }, next);
  };

  const viewOf = ({ summary, pending, checking }: Head): View => ({ summary, pending, checking });

  const look = async (ctx: ObjectSharedContext, head: Head | null, wait: Wait): Promise<Found | undefined> => {
    const view = head === null ? null : viewOf(head);
    switch (wait.for) {
      case 'rest': {
        if (view !== null && !isResting(view.summary.status)) return undefined;
        const result = view === null ? null : await ctx.get<TurnResult>(keys.result);
        return { view, ...(result === null ? {} : { result }) };
      }
      case 'fate': {
        const fate = (await ctx.get<Answer>(keys.told(wait.id)))?.fate;
        return fate === undefined ? undefined : { view, fate };
      }
      case 'end':
        return head === null || (head.ends ?? 0) >= wait.end || isAtEnd(head.summary.status) ? { view } : undefined;
      case 'news':
        return (head?.summary.revision ?? 0) > wait.revision ? { view } : undefined;
      case 'check':
        return view?.checking.includes(wait.callId) === true ? undefined : { view };
      default:
        return wait satisfies never;
    }
  };

  /** Why the version that is here cannot take the session up. Recorded: when this goes on elsewhere, another version may be there. */
  const whyStuck = async (ctx: ObjectSharedContext, head: Head): Promise<ErrorData | undefined> => {
    const reading = readingOf(head, nothingYet, await readChunks(ctx, head, nothingYet));
    if (reading === undefined) return undefined;
    const { sessionId } = head.summary;
    const why = await ctx.run('stuck', () => {
      const taken = takenUp(() => {
        createLiveSession({
          parts: served.parts,
          known: advanced(undefined, reading),
          sessionId,
          hasReaders: () => false,
        });
        return {};
      });
      return 'error' in taken ? taken.error : null;
    });
    if (why === null) return undefined;
    const message = `session ${JSON.stringify(sessionId)} stands still until a version of agent "${served.parts.agent}" is served that can take it up: ${why.message}`;
    return { ...why, message };
  };

  /** Null where it took too long: who still wants to know asks again. */
  const wait = async (ctx: ObjectSharedContext, asked: unknown): Promise<Found | null> => {
    const what = checkWait(asked);
    // Read before anything is looked at: what changes meanwhile is news.
    const head = await headOf(ctx);
    const found = await look(ctx, head, what);
    if (found !== undefined) return found;
    const error = head?.isStuck === true ? await whyStuck(ctx, head) : undefined;
    if (error !== undefined) return { view: null, error };
    const revision = head?.summary.revision ?? 0;
    const { id, promise } = ctx.awakeable<void>();
    const expires = (await ctx.date.now()) + remembered;
    calls.await(ctx, ctx.key, { awakeable: id, until: what.for === 'rest' ? 'rest' : 'change', expires, revision });
    try {
      await promise.orTimeout(patience);
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
    }
    return null;
  };

  const waiting = async (ctx: ObjectContext, { revision, ...waiter }: Waiter & { revision: number }): Promise<void> => {
    const head = await headOf(ctx);
    if (head === null) {
      ctx.set(keys.waiters, joinedBy((await ctx.get<Waiter[]>(keys.waiters)) ?? [], waiter, remembered));
      return;
    }
    const isNews = head.summary.revision !== revision;
    if (isOver(waiter, head.summary.status, isNews)) ctx.resolveAwakeable(waiter.awakeable);
    else ctx.set(keys.head, { ...head, waiters: joinedBy(head.waiters, waiter, remembered) });
  };

  const read = async (ctx: ObjectSharedContext, asked: unknown = nothingYet): Promise<Reading | null> => {
    const since = checkSince(asked);
    const head = await headOf(ctx);
    if (head === null) return null;
    return readingOf(head, since, await readChunks(ctx, head, since)) ?? null;
  };

  const join = async (ctx: ObjectSharedContext): Promise<Joined | Refused | null> => {
    const head = await headOf(ctx);
    if (head === null) return null;
    const reading = readingOf(head, nothingYet, await readChunks(ctx, head, nothingYet));
    if (reading === undefined) return null;
    const known = advanced(undefined, reading);
    const { sessionId, revision } = head.summary;
    const { parts } = served;
    const live = takenUp(() => createLiveSession({ parts, known, sessionId, hasReaders: () => false }));
    if ('error' in live) return live;
    const events = live.soFar();
    return { revision, asking: head.asking, isResting: isResting(head.summary.status), events };
  };

  const view = async (ctx: ObjectSharedContext): Promise<View | null> => {
    const head = await headOf(ctx);
    return head === null ? null : viewOf(head);
  };

  const isPrivate = { ingressPrivate: true };
  return object({
    name: names.sessions,
    handlers: {
      command: handlers.object.exclusive(command),
      settle: handlers.object.exclusive(isPrivate, settle),
      await: handlers.object.exclusive(isPrivate, waiting),
      wait: handlers.object.shared(wait),
      read: handlers.object.shared(read),
      join: handlers.object.shared(join),
      view: handlers.object.shared(view),
    },
    options: { enableLazyState: true, journalRetention: 0 },
  });
};
