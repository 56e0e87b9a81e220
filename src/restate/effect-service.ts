import { CancelledError, type Context, handlers, service } from '@restatedev/restate-sdk';
import { newId } from '../sessions/new-id.ts';
import { createCalls } from './engine-calls.ts';
import { type KnownSession, advanced, sinceOf } from './known-session.ts';
import { type LiveSession, createLiveSession } from './live-session.ts';
import type { Names } from './names.ts';
import { type Reading, type Since, nothingYet } from './protocol.ts';
import { type Lacking, isLacking } from './read-state.ts';
import type { Served } from './served.ts';
import { keyOf, modelKey } from './step.ts';
import { isUnfit, untilAgain } from './unfit.ts';
import type { Work } from './work.ts';

type Effect = NonNullable<ReturnType<LiveSession['effect']>>;

/** The session has gone on without the effect. */
interface Gone {
  isGone: true;
}
const gone: Gone = { isGone: true };
/** This version of the agent cannot take the session up. */
interface Unfit {
  isUnfit: true;
}
const unfit: Unfit = { isUnfit: true };
type Outcome = { output?: unknown } | Gone | Unfit;

const asOutcome = (output: unknown): Outcome => (output === undefined ? {} : { output });

/** Runs the effects of sessions, each in an invocation of its own: on any worker, and not longer than it takes. */
export const effectService = (names: Names, { parts, sessions, audiences, inspect, patience }: Served) => {
  const calls = createCalls(names);

  /** The effect, where this worker has the session as it was when it asked for it, or later. */
  const find = (work: Work, known: KnownSession | undefined): Effect | Gone | Unfit | Lacking => {
    const { key, path } = work;
    if (known === undefined || known.summary.revision < work.revision) return { lacks: sinceOf(known) };
    const { sessionId } = known.summary;
    const hasReaders = (): boolean => audiences.hasReaders(key);
    const make = (): LiveSession => createLiveSession({ parts, known, sessionId, inspect, hasReaders });
    let effect: Effect | undefined;
    try {
      effect = sessions.live(key, known, make).effect(path);
    } catch (error) {
      if (isUnfit(error)) return unfit;
      throw error;
    }
    if (effect !== undefined) return effect;
    // That it is gone must be true: nobody would run it any more.
    return sessions.isSure(key, known) ? gone : { lacks: nothingYet };
  };

  /** Records what `use` gives. */
  const withEffect = async <T extends object>(
    ctx: Context,
    work: Work,
    name: string,
    use: (effect: Effect) => Promise<T> | T,
  ): Promise<T | Gone | Unfit> => {
    let read: { since: Since; reading: Reading } | undefined;
    for (;;) {
      const done = await ctx.run(name, async (): Promise<T | Gone | Unfit | Lacking> => {
        let known = sessions.find(work.key, work, true);
        if (read !== undefined) {
          const { since, reading } = read;
          const base = since.revision === 0 ? undefined : known;
          if (sinceOf(base).revision === since.revision) {
            known = advanced(base, reading);
            sessions.keep(work.key, known);
          }
        }
        const found = find(work, known);
        return typeof found === 'function' ? use(found) : found;
      });
      if (!isLacking(done)) return done;
      const since = done.lacks;
      const reading = await calls.read(ctx, work.key, since);
      // Somebody has removed the session.
      if (reading === null) return gone;
      read = { since, reading };
    }
  };

  const run = async (ctx: Context, work: Work): Promise<void> => {
    const { key, path, id } = work;
    const stop = new AbortController();
    const completed = ctx.request().attemptCompletedSignal;
    completed.addEventListener('abort', () => stop.abort(new DOMException('the attempt is over', 'AbortError')));
    let isRestored = work.isRestored;
    const tryAgain = (): void => {
      const { tries = 0 } = work;
      void calls.run(ctx, { ...work, isRestored, tries: tries + 1 }, untilAgain(tries));
    };
    if (work.isOnce) {
      // Whoever finds another one's mark here comes after somebody who may have begun.
      const mine = newId();
      const begun = await withEffect(ctx, work, 'begin', () => ({ mark: mine }));
      if ('isGone' in begun) return;
      if ('isUnfit' in begun) {
        tryAgain();
        return;
      }
      isRestored ||= begun.mark !== mine;
    }
    let atWork: Promise<Outcome> | undefined;
    let outcome: Outcome;
    try {
      outcome = await withEffect<Outcome>(ctx, work, 'effect', (effect) => {
        const voice = audiences.voice(key, keyOf(path) === modelKey ? id : undefined);
        atWork = effect({ signal: stop.signal, isRestored }, voice).then(asOutcome).finally(voice.end);
        return atWork;
      });
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
      stop.abort(new DOMException('stopped', 'AbortError'));
      // What it still says is heard, as long as the session waits for it.
      outcome = await ctx.run('stopped', async () => (await atWork) ?? gone);
    }
    if ('isUnfit' in outcome) tryAgain();
    else if (!('isGone' in outcome)) void calls.settle(ctx, key, { path, id, ...outcome });
  };

  return service({
    name: names.effects,
    handlers: { run: handlers.handler({ ingressPrivate: true }, run) },
    // A tool takes as long as it takes: the engine must not think that nothing goes on.
    options: { inactivityTimeout: patience, abortTimeout: patience, journalRetention: 0 },
  });
};
