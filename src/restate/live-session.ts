import type { AnyActorRef } from 'xstate';
import {
  type EffectRun,
  type Executor,
  effectAt,
  effectsIn,
  pathOf,
  runEffect,
  settleEffect,
} from '../actors/executor.ts';
import { attachHost, hostOf } from '../actors/host.ts';
import { AgentError } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import { pendingOf } from '../machines/round.ts';
import { resultOf } from '../machines/turn-result.ts';
import type { AgentParts } from '../sessions/agent-parts.ts';
import { newId } from '../sessions/new-id.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import type { EventReader } from '../sessions/event-feed.ts';
import type { Inspector } from '../sessions/session.ts';
import { createSessionCore } from '../sessions/session-core.ts';
import { turnSoFar } from '../sessions/turn-so-far.ts';
import { statusOf } from '../sessions/session-status.ts';
import type { Commit, SessionHome } from '../stores/store.ts';
import type { Voice } from './audiences.ts';
import { carryOut } from './carry-out.ts';
import { type KnownSession, loaded } from './known-session.ts';
import { type Settled, isResting } from './protocol.ts';
import { type Input, type Next, type Running, type Start, keyOf } from './step.ts';

/** A session at rest in a worker: what is to happen in it next happens at once, what takes time is left to others. */
export interface LiveSession {
  /** Takes it from rest to rest. Throws `AgentError` where it cannot; the session is of no use then. Undefined where there is no session to tell of. */
  move(input: Input, running: Readonly<Record<string, Running>>): Promise<Next | undefined>;
  /** What was told in the last move, for those who read along; nothing where nobody did. */
  told(): AgentEvent[];
  /** An effect of it, ready to be run; undefined where the session has gone on without it. */
  effect(path: readonly string[]): ((run: EffectRun, voice: Voice) => Promise<unknown>) | undefined;
  /** The turn so far, as a reader is told who joins now. */
  soFar(): AgentEvent[];
}

/** What a session did in one move. */
interface Noted {
  commits: Commit[];
  fates: { id: string; fate: Fate }[];
  starts: Map<string, Start>;
  aborted: Set<string>;
  ends: number;
}

const nothingNoted = (): Noted => ({ commits: [], fates: [], starts: new Map(), aborted: new Set(), ends: 0 });

const allOf = async (reader: EventReader | undefined): Promise<AgentEvent[]> => {
  const events: AgentEvent[] = [];
  reader?.close();
  for await (const event of reader ?? []) events.push(event);
  return events;
};

const alarmOf = (effect: AnyActorRef): number | null | undefined =>
  effect.src === 'alarm' ? (effect.getSnapshot() as { input: { at: number | null } }).input.at : undefined;

export interface LiveOptions {
  parts: AgentParts;
  known: KnownSession | undefined;
  sessionId: string;
  inspect?: Inspector | undefined;
  hasReaders(): boolean;
}

/** What an effect says goes to its own voice: parallel calls share one session. */
const giveVoice = (root: AnyActorRef, effect: AnyActorRef, voice: Voice): void => {
  const speaker = effect.src === 'tool' ? effect._parent : effect;
  if (speaker === undefined) return;
  const host = hostOf(root);
  attachHost(speaker, {
    ...host,
    audience: {
      hasReaders: voice.hasReaders,
      behind: () => undefined,
      publish: (event) => {
        // An inspector hears it there.
        host.audience.publish(event);
        voice.emit(event);
      },
    },
  });
};

export const createLiveSession = ({ parts, known, sessionId, inspect, hasReaders }: LiveOptions): LiveSession => {
  let noted = nothingNoted();
  let atWork: Readonly<Record<string, Running>> = {};
  let isStarted = false;
  let told: AgentEvent[] = [];
  let { commitId, summary }: { commitId: string; summary: KnownSession['summary'] | undefined } = {
    commitId: known?.commitId ?? '',
    summary: known?.summary,
  };

  const home: SessionHome = {
    durable: true,
    read: async () => undefined,
    inbox: async () => [],
    commit: async (commit) => {
      noted.commits.push(commit);
    },
  };
  const executor: Executor = {
    start: (effect, isRestored) => {
      const path = pathOf(effect);
      const key = keyOf(path);
      if (isRestored && Object.hasOwn(atWork, key)) return;
      const at = alarmOf(effect);
      if (at === null) return;
      const isOnce = effect.src === 'tool';
      noted.starts.set(key, { path, id: newId(), isRestored, isOnce, ...(at === undefined ? {} : { at }) });
    },
    abort: (effect) => void noted.aborted.add(keyOf(pathOf(effect))),
  };
  const core = createSessionCore({
    ...parts,
    store: home,
    executor,
    inspect,
    // Whatever a call has come to is recorded; one that is still to run says that there is no such tool.
    mayLack: () => true,
    fork: () => Promise.reject(new AgentError('read-only', 'a session of an engine is not forked')),
    ...(known === undefined ? { input: { sessionId } } : { ...loaded(known), isStored: true }),
  });
  const { actor, journal } = core;
  actor.on('finish', () => {
    noted.ends += 1;
  });
  actor.on('message-fate', ({ messageId, fate }) => void noted.fates.push({ id: messageId, fate }));

  const settle = ({ path, output, at }: Settled): void => {
    const effect = effectAt(actor, path);
    if (effect !== undefined) settleEffect(effect, at === undefined ? output : { at });
  };
  const checking = (): string[] =>
    (core.context().round?.calls ?? []).flatMap(({ callId, phase, nested }) =>
      phase === 'validating' ? [callId] : (nested?.checking ?? []),
    );

  return {
    effect: (path) => {
      const effect = effectAt(actor, path);
      if (effect === undefined) return undefined;
      return (run, voice) => {
        giveVoice(actor, effect, voice);
        return runEffect(effect, run);
      };
    },
    told: () => told,
    soFar: () => {
      const now = core.now();
      return turnSoFar(now, { paused: now.hasTag('waiting') ? core.pendingResult() : undefined, recent: [] });
    },
    move: async (input, running) => {
      noted = nothingNoted();
      atWork = running;
      const reader = hasReaders() ? core.feed.read() : undefined;
      if (!isStarted) actor.start();
      isStarted = true;
      if ('told' in input) await carryOut(core, input.told);
      else settle(input.settled);
      await journal.commit();
      core.assertOpen();
      told = await allOf(reader);

      const { commits, fates, starts, aborted, ends } = noted;
      const status = statusOf(core.now().value);
      const live = new Set(effectsIn(actor).map((effect) => keyOf(pathOf(effect))));
      const settled = 'settled' in input ? keyOf(input.settled.path) : undefined;
      const last = commits.at(-1);
      if (last !== undefined) [commitId, summary] = [newId(), last.summary];
      if (summary === undefined) return undefined;
      const isOver = isResting(status) && status !== 'idle';
      return {
        commitId,
        commits,
        view: { summary, pending: pendingOf(core.context()), checking: checking() },
        ...(isOver ? { result: status === 'waiting' ? core.pendingResult() : resultOf(core.context()) } : {}),
        ends,
        fates,
        starts: [...starts].flatMap(([key, start]) => (live.has(key) ? [start] : [])),
        ended: Object.keys(running).filter((key) => key === settled || starts.has(key) || !live.has(key)),
        aborted: [...aborted],
      };
    },
  };
};
