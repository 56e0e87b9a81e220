import type { AnyActorRef } from 'xstate';
import { type Executor, effectAt, effectsIn, pathOf, settleEffect } from '../actors/executor.ts';
import { AgentError, errorData, isInstance } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import { pendingOf } from '../machines/round.ts';
import { type TurnResult, resultOf } from '../machines/turn-result.ts';
import type { AgentParts } from '../sessions/agent-parts.ts';
import { newId } from '../sessions/new-id.ts';
import { type SessionCore, createSessionCore } from '../sessions/session-core.ts';
import { statusOf } from '../sessions/session-status.ts';
import type { Commit, SessionHome } from '../stores/store.ts';
import { carryOut } from './carry-out.ts';
import { type KnownSession, loaded } from './known-session.ts';
import { type Answer, type Settled, type Told, type View, isResting } from './protocol.ts';

/** An effect that is at work somewhere, or an alarm that is set. */
export interface Running {
  path: string[];
  /** Of this one start of it: what an earlier one comes to is not taken for its outcome. */
  id: string;
  /** As the engine knows it. */
  invocation: string;
}

export interface Start {
  path: string[];
  id: string;
  /** Of an alarm: when it rings, in ms since 1970. */
  at?: number;
  /** It was at work when the session was saved, nobody knows where. */
  isRestored: boolean;
}

/** What a session did with a command or an outcome: plain JSON, so that it can be recorded and done only once. */
export interface Step {
  answer: Answer;
  /** The alarm has rung too early. */
  isEarly?: boolean;
  next?: Next;
}

export interface Next {
  commitId: string;
  commits: Commit[];
  view: View;
  /** Of a session that rests or waits. */
  result?: TurnResult;
  /** Of messages, by their ids. */
  fates: Record<string, Fate>;
  starts: Start[];
  /** Keys of effects that nobody waits for any more, and of those that are to give up. */
  ended: string[];
  aborted: string[];
}

export type Input = { told: Told } | { settled: Settled };

export interface StepGiven {
  parts: AgentParts;
  known: KnownSession | undefined;
  running: Readonly<Record<string, Running>>;
  input: Input;
}

/** Of paths: ids of actors hold no slash. */
export const keyOf = (path: readonly string[]): string => path.join('/');

/** Keeps the commits of one step until the engine takes them. */
const createHome = (commits: Commit[]): SessionHome => ({
  durable: true,
  read: async () => undefined,
  inbox: async () => [],
  commit: async (commit) => {
    commits.push(commit);
  },
});

export const coreOf = (
  parts: AgentParts,
  known: KnownSession | undefined,
  rest: { sessionId: string; home: SessionHome; executor: Executor },
): SessionCore =>
  createSessionCore({
    ...parts,
    store: rest.home,
    executor: rest.executor,
    fork: () => Promise.reject(new AgentError('read-only', 'a session of an engine is not forked')),
    ...(known === undefined ? { input: { sessionId: rest.sessionId } } : { ...loaded(known), isStored: true }),
  });

interface Noted {
  starts: Map<string, Start>;
  aborted: Set<string>;
  executor: Executor;
}

const alarmOf = (effect: AnyActorRef): number | null | undefined =>
  effect.src === 'alarm' ? (effect.getSnapshot() as { input: { at: number | null } }).input.at : undefined;

const noteEffects = (running: StepGiven['running']): Noted => {
  const starts = new Map<string, Start>();
  const aborted = new Set<string>();
  const start: Executor['start'] = (effect, isRestored) => {
    const path = pathOf(effect);
    const key = keyOf(path);
    if (isRestored && Object.hasOwn(running, key)) return;
    const at = alarmOf(effect);
    if (at === null) return;
    starts.set(key, { path, id: newId(), isRestored, ...(at === undefined ? {} : { at }) });
  };
  return { starts, aborted, executor: { start, abort: (effect) => void aborted.add(keyOf(pathOf(effect))) } };
};

const settle = (core: SessionCore, { path, output, at }: Settled): void => {
  const effect = effectAt(core.actor, path);
  if (effect !== undefined) settleEffect(effect, at === undefined ? output : { at });
};

const idOf = (input: Input): string => ('told' in input ? input.told.sessionId : '');

/**
 * Takes a session one step further: from rest to rest, with all that follows without waiting for anybody. What a command may not do is its answer;
 * an outcome that the session cannot take throws: it must not be lost.
 */
export const takeStep = async (given: StepGiven): Promise<Step> => {
  const { input, parts, running } = given;
  if ('settled' in input) {
    const { path, id, at } = input.settled;
    if (running[keyOf(path)]?.id !== id) return { answer: {} };
    if (at !== undefined && parts.now() < at) return { answer: {}, isEarly: true };
    return move(given);
  }
  try {
    return await move(given);
  } catch (error) {
    if (isInstance(error, AgentError)) return { answer: { error: errorData(error) } };
    throw error;
  }
};

const move = async ({ parts, known, running, input }: StepGiven): Promise<Step> => {
  const commits: Commit[] = [];
  const fates: Record<string, Fate> = {};
  const { starts, aborted, executor } = noteEffects(running);
  const core = coreOf(parts, known, { sessionId: idOf(input), home: createHome(commits), executor });
  const { actor, journal } = core;
  actor.on('message-fate', ({ messageId, fate }) => {
    fates[messageId] = fate;
  });
  actor.start();
  if ('told' in input) await carryOut(core, input.told);
  else settle(core, input.settled);
  await journal.commit();
  core.assertOpen();

  const context = core.context();
  const status = statusOf(core.now().value);
  const live = new Set(effectsIn(actor).map((effect) => keyOf(pathOf(effect))));
  const settled = 'settled' in input ? keyOf(input.settled.path) : undefined;
  const last = commits.at(-1);
  const summary = last?.summary ?? known?.summary;
  if (summary === undefined) return { answer: {} };
  return {
    answer: 'told' in input && Object.hasOwn(fates, input.told.id) ? { fate: fates[input.told.id] as Fate } : {},
    next: {
      commitId: last === undefined ? (known?.commitId ?? '') : newId(),
      commits,
      view: { summary, pending: pendingOf(context), checking: checkingOf(core) },
      ...(isResting(status) && status !== 'idle'
        ? { result: status === 'waiting' ? core.pendingResult() : resultOf(context) }
        : {}),
      fates,
      starts: [...starts].flatMap(([key, start]) => (live.has(key) ? [start] : [])),
      ended: Object.keys(running).filter((key) => key === settled || starts.has(key) || !live.has(key)),
      aborted: [...aborted],
    },
  };
};

const checkingOf = (core: SessionCore): string[] =>
  (core.context().round?.calls ?? []).flatMap(({ callId, phase, nested }) =>
    phase === 'validating' ? [callId] : (nested?.checking ?? []),
  );
