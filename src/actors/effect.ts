import { breath } from './breath.ts';
import { hostOf } from './host.ts';
import type { ActorLogic, ActorSystem, ActorSystemInfo, AnyActorRef, Snapshot } from 'xstate';

/** What an effect is told: its plain input, the actor that it serves, and when to give up. */
export interface EffectScope<TInput> {
  input: TInput;
  /** The actor that started this one; read its snapshot for what is too large to copy into an input. */
  parent: AnyActorRef | undefined;
  self: AnyActorRef;
  signal: AbortSignal;
  /** The work was under way when the session was saved: what it had done by then is not known. */
  isRestored: boolean;
}

export type EffectEvent<TOutput> =
  | { type: 'effect.settled'; output: TOutput }
  /** The session could not be stored before the work: its machine breaks, nothing else happens. */
  | { type: 'effect.failed'; error: unknown }
  /** Tells the work to give up, but goes on waiting for what it says. */
  | { type: 'effect.abort'; reason?: string }
  | { type: 'xstate.stop' };

/** What is at work for an effect, and no part of its data. */
const work = Symbol('work');

/** `known` is an outcome that was there when the session was saved and is announced again after a restore. */
export type EffectSnapshot<TOutput, TInput> = Snapshot<TOutput> & {
  input: TInput;
  known?: TOutput;
  isRestored?: boolean;
  [work]?: { controller?: AbortController };
};
export type EffectLogic<TOutput, TInput> = ActorLogic<
  EffectSnapshot<TOutput, TInput>,
  EffectEvent<TOutput>,
  TInput,
  ActorSystem<ActorSystemInfo>
>;
/** With the work itself, for an executor. */
export type RunnableEffect<TOutput, TInput> = EffectLogic<TOutput, TInput> & {
  run(scope: EffectScope<TInput>): Promise<TOutput>;
};

const active = <TOutput, TInput>(input: TInput): EffectSnapshot<TOutput, TInput> => ({
  status: 'active',
  output: undefined,
  error: undefined,
  input,
});

/**
 * Asynchronous work as an actor whose failures are values: `run` must not reject, and what it gives is plain JSON.
 *
 * It differs from XState's `fromPromise` where a session is restored: a finished effect whose outcome its parent had not taken
 * yet announces it again, so that no parent waits for ever. One that was still at work runs again with the same input. What is idle never
 * comes to anything, and holds nothing while it is waited for.
 */
export const fromEffect = <TOutput, TInput>(
  run: (scope: EffectScope<TInput>) => Promise<TOutput>,
  { isIdle }: { isIdle?: (input: TInput) => boolean } = {},
): RunnableEffect<TOutput, TInput> => {
  const abort = (snapshot: EffectSnapshot<TOutput, TInput>, reason: string): void => {
    snapshot[work]?.controller?.abort(new DOMException(reason, 'AbortError'));
  };
  return {
    run,
    getInitialSnapshot: (_scope, input) => ({ ...active<TOutput, TInput>(input), [work]: {} }),
    transition: (snapshot, event, { self }) => {
      if (snapshot.status !== 'active') return snapshot;
      switch (event.type) {
        case 'effect.settled':
          return { status: 'done', output: event.output, error: undefined, input: snapshot.input };
        case 'effect.failed':
          return { ...snapshot, status: 'error', output: undefined, error: event.error };
        case 'effect.abort':
          hostOf(self).executor?.abort(self);
          abort(snapshot, event.reason ?? 'aborted');
          return snapshot;
        case 'xstate.stop':
          abort(snapshot, 'stopped');
          return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
        default:
          return snapshot;
      }
    },
    start: (snapshot, { self }) => {
      if (snapshot.status !== 'active') return;
      if (snapshot.known !== undefined) {
        self.send({ type: 'effect.settled', output: snapshot.known });
        return;
      }
      const { running, executor } = hostOf(self);
      if (executor !== undefined) {
        executor.start(self, snapshot.isRestored === true);
        return;
      }
      if (isIdle?.(snapshot.input) === true) return;
      const controller = new AbortController();
      const underWay = snapshot[work];
      if (underWay !== undefined) underWay.controller = controller;
      running.add(controller);
      // One turn of the microtask queue later the parent's snapshot holds what it decided when it started this effect.
      void (breath() ?? Promise.resolve())
        .then(() => {
          // Stopped in the turn of the event loop in which it was started: nothing of it happens.
          if (self.getSnapshot().status !== 'active') return undefined;
          return run({
            input: snapshot.input,
            parent: self._parent,
            self,
            signal: controller.signal,
            isRestored: snapshot.isRestored === true,
          });
        })
        .then((output) => {
          running.delete(controller);
          if (output !== undefined && self.getSnapshot().status === 'active') {
            self.send({ type: 'effect.settled', output });
          }
        })
        .catch((error: unknown) => {
          running.delete(controller);
          if (self.getSnapshot().status === 'active') self.send({ type: 'effect.failed', error });
        });
    },
    getPersistedSnapshot: ({ input, output }) =>
      ({ ...active<TOutput, TInput>(input), ...(output === undefined ? {} : { known: output }) }) as Snapshot<unknown>,
    restoreSnapshot: (stored) => ({ ...(stored as EffectSnapshot<TOutput, TInput>), isRestored: true, [work]: {} }),
  };
};
