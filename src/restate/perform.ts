import type { Executor } from '../actors/executor.ts';
import { type EffectRun, effectAt, runEffect } from '../actors/executor.ts';
import type { AgentParts } from '../sessions/agent-parts.ts';
import type { SessionHome } from '../stores/store.ts';
import type { KnownSession } from './known-session.ts';
import { coreOf } from './step.ts';

/** Of a session that only stands there for its effects: nothing in it moves. */
const stillHome: SessionHome = {
  durable: false,
  read: async () => undefined,
  inbox: async () => [],
  commit: async () => undefined,
};
const nothing: Executor = { start: () => undefined, abort: () => undefined };

/** Finds an effect in a session as it is known, ready to be run; undefined where the session has gone on without it. */
export const effectOf = (
  parts: AgentParts,
  known: KnownSession,
  path: readonly string[],
): ((run: EffectRun) => Promise<unknown>) | undefined => {
  const { sessionId } = known.summary;
  const { actor } = coreOf(parts, known, { sessionId, home: stillHome, executor: nothing });
  const effect = effectAt(actor, path);
  return effect === undefined ? undefined : (run) => runEffect(effect, run);
};
