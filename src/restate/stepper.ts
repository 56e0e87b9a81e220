import { type InvocationId, type ObjectContext, RestatePromise } from '@restatedev/restate-sdk';
import { withinSize } from './check-size.ts';
import type { EngineCalls } from './engine-calls.ts';
import { type Head, type Waiter, isOver, logOf, placeOf } from './head.ts';
import { advanced, sinceOf } from './known-session.ts';
import { type LiveSession, createLiveSession } from './live-session.ts';
import { appended } from './log.ts';
import { isLacking, knownAt, readChunks } from './read-state.ts';
import type { Served } from './served.ts';
import { keys } from './state-keys.ts';
import { type Input, type Next, type Running, type Start, type Step, keyOf, modelKey, takeStep } from './step.ts';

/** A session as its object has it. */
export interface Now {
  head: Head | null;
  running: Readonly<Record<string, Running>>;
}

export interface Stepper {
  /** The step is computed once and recorded: what follows from it is the same whoever goes on after a crash. */
  compute(ctx: ObjectContext, now: Now & { input: Input }): Promise<Step>;
  /** Writes what the step came to, and has its effects run. */
  apply(ctx: ObjectContext, before: Now, next: Next): Promise<void>;
}

/** The model call of the session's own that is under way after a step. */
const askingAfter = (running: Now['running'], { starts, ended }: Next): string | null => {
  const started = starts.find(({ path }) => keyOf(path) === modelKey);
  if (started !== undefined) return started.id;
  return ended.includes(modelKey) ? null : (running[modelKey]?.id ?? null);
};

export const createStepper = ({ parts, sessions, audiences, inspect }: Served, calls: EngineCalls): Stepper => {
  /** Actors on which a step was computed that is not recorded yet, by the commit that it came to. */
  const moved = new WeakMap<ObjectContext, LiveSession>();

  const compute: Stepper['compute'] = async (ctx, { head, running, input }) => {
    let chunks = {};
    for (;;) {
      const step = await ctx.run('step', async () => {
        const { key } = ctx;
        const known = head === null ? undefined : knownAt(sessions, key, head, chunks);
        if (known !== undefined && isLacking(known)) return known;
        const sessionId = 'told' in input ? input.told.sessionId : '';
        const make = (): LiveSession =>
          createLiveSession({
            parts,
            known,
            inspect,
            sessionId: known?.summary.sessionId ?? sessionId,
            hasReaders: () => audiences.hasReaders(key),
          });
        const live = (): LiveSession => {
          const found = known === undefined ? make() : sessions.take(key, known, make);
          moved.set(ctx, found);
          return found;
        };
        const taken = await takeStep({ live, running, input, now: parts.now() });
        return 'told' in input ? withinSize(taken, { told: input.told, known }) : taken;
      });
      if (isLacking(step)) {
        if (head !== null) chunks = await readChunks(ctx, head, step.lacks);
        continue;
      }
      // Nobody knows how far it has come.
      if (step.next === undefined && moved.delete(ctx) && head !== null)
        sessions.putBack(ctx.key, head.commitId, undefined);
      return step;
    }
  };

  const begin = (ctx: ObjectContext, head: Head, { at, ...start }: Start): Promise<InvocationId> => {
    if (at === undefined) return calls.run(ctx, { ...placeOf(head), key: ctx.key, ...start });
    const { path, id } = start;
    return calls.settle(ctx, ctx.key, { path, id, at }, Math.max(0, Math.ceil(at - head.summary.updatedAt)));
  };

  /** Where this worker has the session before the step, it has the one after it as well. */
  const expect = (key: string, before: Head | null, head: Head, { commits }: Next): void => {
    const known = before === null ? undefined : sessions.find(key, placeOf(before));
    if (before !== null && known?.commitId !== before.commitId) return;
    const { birth, commitId, summary } = head;
    if (summary.revision !== sinceOf(known).revision + commits.length) return;
    const whole = commits.findLastIndex((commit) => commit.isWhole);
    const states = commits.slice(Math.max(0, whole)).map(({ state }) => state);
    const messages = commits.flatMap((commit) => commit.messages);
    const reading = { birth, commitId, summary, states, isWhole: whole !== -1, messages };
    sessions.expect(key, known, advanced(known, reading));
  };

  const remember = (ctx: ObjectContext, before: Head | null, head: Head, next: Next): void => {
    if (next.commits.length > 0) expect(ctx.key, before, head, next);
    const live = moved.get(ctx);
    if (live === undefined) return;
    sessions.putBack(ctx.key, next.commitId, live);
    const events = live.told();
    if (events.length === 0) return;
    const from = before?.summary.revision ?? 0;
    audiences.tell(ctx.key, { type: 'step', from, revision: head.summary.revision, asking: head.asking, events });
  };

  const apply: Stepper['apply'] = async (ctx, { head: before, running }, next) => {
    const { commitId, commits, view, result, ends, fates, starts, ended, aborted } = next;
    const { log, sealed, cleared } = appended(logOf(before), commits);
    for (const key of cleared) ctx.clear(key);
    for (const [key, chunk] of Object.entries(sealed)) ctx.set(key, chunk);
    for (const { id, fate } of fates) ctx.set(keys.told(id), { fate });
    if (result !== undefined) ctx.set(keys.result, result);
    const known = before === null ? await ctx.get<Waiter[]>(keys.waiters) : before.waiters;
    if (before === null && known !== null) ctx.clear(keys.waiters);
    const waiters = Object.groupBy(known ?? [], (waiter) =>
      isOver(waiter, view.summary.status, true) ? 'over' : 'left',
    );
    const asking = askingAfter(running, next);
    const birth = before?.birth ?? commitId;
    const head: Head = {
      ...view,
      birth,
      commitId,
      log,
      asking,
      waiters: waiters.left ?? [],
      ends: (before?.ends ?? 0) + ends,
    };
    // Whatever starts finds the state that asks for it.
    ctx.set(keys.head, head);
    remember(ctx, before, head, next);
    for (const { awakeable } of waiters.over ?? []) ctx.resolveAwakeable(awakeable);
    for (const key of [...ended, ...aborted]) {
      const gone = running[key];
      if (gone !== undefined) ctx.cancel(gone.invocation as InvocationId);
    }
    const begun = starts.map((start) => begin(ctx, head, start) as RestatePromise<InvocationId>);
    const invocations = begun.length === 0 ? [] : await RestatePromise.all(begun);
    const left = Object.entries(running).filter(([key]) => !ended.includes(key));
    const started = starts.map(({ path, id }, index): [string, Running] => [
      keyOf(path),
      { path, id, invocation: invocations[index] ?? '' },
    ]);
    for (const [key, { invocation }] of started) if (aborted.includes(key)) ctx.cancel(invocation as InvocationId);
    ctx.set(keys.running, Object.fromEntries([...left, ...started]));
  };

  return { compute, apply };
};
