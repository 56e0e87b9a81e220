import {
  type InvocationId,
  type ObjectContext,
  type ObjectSharedContext,
  RestatePromise,
  TimeoutError,
  handlers,
  object,
} from '@restatedev/restate-sdk';
import type { TurnResult } from '../machines/turn-result.ts';
import { createCalls } from './engine-calls.ts';
import { type Head, logOf, nextHead, placeOf } from './head.ts';
import { advanced, sinceOf } from './known-session.ts';
import { appended } from './log.ts';
import type { Names } from './names.ts';
import { checkTold } from './check-told.ts';
import {
  type Answer,
  type Found,
  type Reading,
  type Settled,
  type Since,
  type Told,
  type View,
  type Wait,
  isResting,
  nothingYet,
} from './protocol.ts';
import { isLacking, knownAt, readChunks, readingOf } from './read-state.ts';
import type { Served } from './served.ts';
import { type Input, type Next, type Running, type Start, type Step, keyOf, takeStep } from './step.ts';

const keys = { head: 'head', result: 'result', told: (id: string): string => `told:${id}` };

/** ms for which one call waits. */
const patience = 60_000;

/** One session: its events one after the other, its state, and nothing that takes long. */
export const sessionObject = (names: Names, served: Served) => {
  const { parts, sessions } = served;
  const calls = createCalls(names);
  const headOf = (ctx: Pick<ObjectContext, 'get'>): Promise<Head | null> => ctx.get<Head>(keys.head);

  /** The step is computed once and recorded: what follows from it is the same whoever goes on after a crash. */
  const compute = async (ctx: ObjectContext, head: Head | null, input: Input): Promise<Step> => {
    let chunks = {};
    for (;;) {
      const step = await ctx.run('step', async () => {
        const known = head === null ? undefined : knownAt(sessions, ctx.key, head, chunks);
        if (known !== undefined && isLacking(known)) return known;
        return takeStep({ parts, known, running: head?.running ?? {}, input });
      });
      if (!isLacking(step)) return step;
      if (head !== null) chunks = await readChunks(ctx, head, step.lacks);
    }
  };

  const begin = (ctx: ObjectContext, head: Head, { at, path, id, isRestored }: Start): Promise<InvocationId> => {
    if (at === undefined) return calls.run(ctx, { ...placeOf(head), key: ctx.key, path, id, isRestored });
    return calls.settle(ctx, ctx.key, { path, id, at }, Math.max(0, Math.ceil(at - head.summary.updatedAt)));
  };

  /** Where this worker has the session before the step, it has the one after it as well. */
  const expect = (key: string, before: Head | null, head: Head, { commits }: Next): void => {
    const known = before === null ? undefined : sessions.find(key, placeOf(before));
    if (before !== null && known?.commitId !== before.commitId) return;
    const since = sinceOf(known);
    const isWhole = commits.some((commit) => commit.isWhole);
    const states = commits.map(({ state }) => state).slice(isWhole ? commits.findLastIndex((each) => each.isWhole) : 0);
    const messages = commits.flatMap((commit) => commit.messages);
    const { birth, commitId, summary } = head;
    if (summary.revision !== since.revision + commits.length) return;
    sessions.expect(key, known, advanced(known, { birth, commitId, summary, states, isWhole, messages }));
  };

  const apply = async (ctx: ObjectContext, before: Head | null, next: Next): Promise<void> => {
    const { commits, view, result, fates, starts, ended, aborted } = next;
    const { log, sealed, cleared } = appended(logOf(before), commits);
    const running: Record<string, Running> = Object.fromEntries(
      Object.entries(before?.running ?? {}).filter(([key]) => !ended.includes(key)),
    );
    for (const key of cleared) ctx.clear(key);
    for (const [key, chunk] of Object.entries(sealed)) ctx.set(key, chunk);
    for (const [id, fate] of Object.entries(fates)) ctx.set(keys.told(id), { fate } satisfies Answer);
    if (result !== undefined) ctx.set(keys.result, result);
    const isOver = (waiter: Head['waiters'][number]): boolean =>
      waiter.until === 'change' || isResting(view.summary.status);
    const waiters = before?.waiters ?? [];
    const head = nextHead(before, next, { log, running, waiters: waiters.filter((waiter) => !isOver(waiter)) });
    // First without the effects: whatever starts finds the state that asks for it.
    ctx.set(keys.head, head);
    if (commits.length > 0) expect(ctx.key, before, head, next);
    for (const { awakeable } of waiters.filter(isOver)) ctx.resolveAwakeable(awakeable);
    for (const key of [...ended, ...aborted]) {
      const gone = before?.running[key];
      if (gone !== undefined) ctx.cancel(gone.invocation as InvocationId);
    }
    if (starts.length === 0) return;
    const begun = starts.map((start) => begin(ctx, head, start) as RestatePromise<InvocationId>);
    const invocations = await RestatePromise.all(begun);
    for (const [index, { path, id }] of starts.entries()) {
      running[keyOf(path)] = { path, id, invocation: invocations[index] ?? '' };
      if (aborted.includes(keyOf(path))) ctx.cancel((invocations[index] ?? '') as InvocationId);
    }
    ctx.set(keys.head, { ...head, running });
  };

  const command = async (ctx: ObjectContext, told: Told): Promise<Answer> => {
    const refused = await checkTold(ctx.key, told, served.key);
    if (refused !== undefined) return { error: refused };
    const seen = await ctx.get<Answer>(keys.told(told.id));
    if (seen !== null) return seen;
    const head = await headOf(ctx);
    const { answer, next } = await compute(ctx, head, { told });
    if (next !== undefined) {
      ctx.set(keys.told(told.id), answer);
      await apply(ctx, head, next);
    }
    return answer;
  };

  const settle = async (ctx: ObjectContext, settled: Settled): Promise<void> => {
    const head = await headOf(ctx);
    const key = keyOf(settled.path);
    // Not even looked at: nobody waits for it.
    if (head === null || head.running[key]?.id !== settled.id) return;
    const { next, isEarly } = await compute(ctx, head, { settled });
    if (isEarly === true) {
      const delay = Math.max(1, Math.ceil((settled.at ?? 0) - (await ctx.date.now())));
      const invocation = await calls.settle(ctx, ctx.key, settled, delay);
      const { path, id } = settled;
      ctx.set(keys.head, { ...head, running: { ...head.running, [key]: { path, id, invocation } } });
    }
    if (next === undefined) return;
    // What has just come to its end needs no cancelling.
    const { [key]: _settled, ...running } = head.running;
    await apply(ctx, { ...head, running }, next);
  };

  const look = async (ctx: ObjectSharedContext, wait: Wait): Promise<Found | undefined> => {
    const head = await headOf(ctx);
    const { summary, pending, checking } = head ?? {};
    const view: View | null =
      summary === undefined || pending === undefined || checking === undefined ? null : { summary, pending, checking };
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
      case 'check':
        return view?.checking.includes(wait.callId) === true ? undefined : { view };
      default:
        return wait satisfies never;
    }
  };

  /** Null where it took too long: who still wants to know asks again. */
  const wait = async (ctx: ObjectSharedContext, what: Wait): Promise<Found | null> => {
    const found = await look(ctx, what);
    if (found !== undefined) return found;
    const revision = (await headOf(ctx))?.summary.revision ?? 0;
    const { id, promise } = ctx.awakeable<void>();
    calls.await(ctx, ctx.key, { awakeable: id, until: what.for === 'rest' ? 'rest' : 'change', revision });
    try {
      await promise.orTimeout(patience);
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
    }
    return null;
  };

  const waiting = async (
    ctx: ObjectContext,
    { revision, ...waiter }: Head['waiters'][number] & { revision: number },
  ): Promise<void> => {
    const head = await headOf(ctx);
    if (
      head === null ||
      (waiter.until === 'rest' ? isResting(head.summary.status) : head.summary.revision !== revision)
    )
      ctx.resolveAwakeable(waiter.awakeable);
    else ctx.set(keys.head, { ...head, waiters: [...head.waiters, waiter] });
  };

  const read = async (ctx: ObjectSharedContext, since: Since = nothingYet): Promise<Reading | null> => {
    const head = await headOf(ctx);
    if (head === null) return null;
    return readingOf(head, since, await readChunks(ctx, head, since)) ?? null;
  };

  const view = async (ctx: ObjectSharedContext): Promise<View | null> =>
    (await look(ctx, { for: 'check', callId: '' }))?.view ?? null;

  const isPrivate = { ingressPrivate: true };
  return object({
    name: names.sessions,
    handlers: {
      command: handlers.object.exclusive(command),
      settle: handlers.object.exclusive(isPrivate, settle),
      await: handlers.object.exclusive(isPrivate, waiting),
      wait: handlers.object.shared(wait),
      read: handlers.object.shared(read),
      view: handlers.object.shared(view),
    },
    options: { enableLazyState: true, journalRetention: 0 },
  });
};
