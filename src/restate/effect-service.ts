import { CancelledError, type Context, handlers, service } from '@restatedev/restate-sdk';
import { newId } from '../sessions/new-id.ts';
import { advanced, sinceOf } from './known-session.ts';
import { type KnownSession } from './known-session.ts';
import { createCalls } from './engine-calls.ts';
import type { Names } from './names.ts';
import { effectOf } from './perform.ts';
import { type Reading, type Since, nothingYet } from './protocol.ts';
import { type Lacking, isLacking } from './read-state.ts';
import type { Served } from './served.ts';
import type { Work } from './work.ts';

/** What came of an effect; `isGone` where the session had gone on without it. */
type Outcome = { output?: unknown } | { isGone: true };

const day = 86_400_000;

/** Runs the effects of sessions, each in an invocation of its own: on any worker, and not longer than it takes. */
export const effectService = (names: Names, { parts, sessions }: Served) => {
  const calls = createCalls(names);
  /** Records what `use` gives, with the session as it was when it asked for the effect, or later. */
  const withSession = async <T extends object>(
    ctx: Context,
    work: Work,
    name: string,
    use: (known: KnownSession) => Promise<T> | T,
  ): Promise<T> => {
    let reading: Reading | null = null;
    let since: Since = nothingYet;
    for (;;) {
      const done = await ctx.run(name, async (): Promise<T | Lacking> => {
        let known = sessions.find(work.key, work, true);
        const has = (): boolean => known !== undefined && known.summary.revision >= work.revision;
        if (!has() && reading !== null && since.revision === sinceOf(known).revision) {
          known = advanced(known, reading);
          sessions.keep(work.key, known);
        }
        return known !== undefined && has() ? use(known) : { lacks: sinceOf(known) };
      });
      if (!isLacking(done)) return done;
      since = done.lacks;
      reading = await calls.read(ctx, work.key, since);
    }
  };

  const run = async (ctx: Context, work: Work): Promise<void> => {
    const { key, path, id } = work;
    const stop = new AbortController();
    const completed = ctx.request().attemptCompletedSignal;
    completed.addEventListener('abort', () => stop.abort(new DOMException('the attempt is over', 'AbortError')));
    const mine = newId();
    // Whoever finds another one's mark here comes after somebody who may have begun.
    const begun = await withSession(ctx, work, 'begin', (known) =>
      effectOf(parts, known, path) === undefined ? { isGone: true } : { mark: mine },
    );
    if ('isGone' in begun) return;
    const isRestored = work.isRestored || begun.mark !== mine;
    let atWork: Promise<Outcome> | undefined;
    let outcome: Outcome;
    try {
      outcome = await withSession(ctx, work, 'effect', (known) => {
        const effect = effectOf(parts, known, path);
        atWork = effect === undefined ? undefined : effect({ signal: stop.signal, isRestored }).then(asOutcome);
        return atWork ?? { isGone: true };
      });
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
      stop.abort(new DOMException('stopped', 'AbortError'));
      // What it still says is heard, as long as the session waits for it.
      outcome = await ctx.run('stopped', async () => (await atWork) ?? { isGone: true });
    }
    if ('isGone' in outcome) return;
    void calls.settle(ctx, key, { path, id, ...outcome });
  };

  return service({
    name: names.effects,
    handlers: { run: handlers.handler({ ingressPrivate: true }, run) },
    // A tool takes as long as it takes: the engine must not think that nothing goes on.
    options: { inactivityTimeout: day, abortTimeout: day, journalRetention: 0 },
  });
};

const asOutcome = (output: unknown): Outcome => (output === undefined ? {} : { output });
