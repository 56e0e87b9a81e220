import type { ActorLogic, ActorSystem, ActorSystemInfo, AnyActorRef, Snapshot } from 'xstate';
import type { ErrorData } from '../errors.ts';
import { hostOf } from './host.ts';

/** What came of telling of a turn that it is over. */
export interface Told {
  turn: number;
  /** With a history provider: how many messages of the session it has now, counted from the first of all. */
  handed?: number;
  errors: ErrorData[];
}

/** Tells whoever wants to know that the agent's turn is over; undefined where nobody is left to be told. Never rejects. */
export type TellTurn = (agent: AnyActorRef) => Promise<Told> | undefined;

export type WakeEvent =
  | { type: 'turn.ended' }
  | { type: 'effect.settled'; output: Told | undefined }
  | { type: 'xstate.stop' };

type WakeSnapshot = Snapshot<undefined> & { isRestored?: boolean };

/** As an effect it tells of the turn that is over, where effects are run by somebody else. */
export type WakeLogic = ActorLogic<WakeSnapshot, WakeEvent, undefined, ActorSystem<ActorSystemInfo>> & {
  run(scope: { parent: AnyActorRef | undefined }): Promise<Told> | undefined;
};

const fresh: WakeSnapshot = { status: 'active', output: undefined, error: undefined };
const restored: WakeSnapshot = { status: 'active', output: undefined, error: undefined, isRestored: true };
/** Of a session that has not been away: there is nothing to say. */
export const asleep = { ...fresh, hasSlept: true } as const;
const stopped: WakeSnapshot = { status: 'stopped', output: undefined, error: undefined };

const isUntold = (agent: AnyActorRef): boolean =>
  (agent.getSnapshot() as { context: { turn: { untold?: boolean } } }).context.turn.untold === true;

/**
 * Says once, when its session is restored, that it is awake. A session may have been saved between a call's report and its round's
 * hearing it; the round then asks all of its calls to report again. It may also have been saved before everybody was told that a turn
 * is over: they are told now. A session whose effects run elsewhere is saved only when all of it has been heard.
 */
export const createWakeLogic = (tell: TellTurn): WakeLogic => {
  const tellAll = (self: AnyActorRef, isRestored: boolean): void => {
    const agent = self._parent;
    if (agent === undefined) return;
    const { executor } = hostOf(self);
    if (executor !== undefined) {
      if (isUntold(agent)) executor.start(self, isRestored);
      return;
    }
    void tell(agent)?.then((told) => {
      if (self.getSnapshot() !== stopped) agent.send({ type: 'turn.told', ...told });
    });
  };
  return {
    run: ({ parent }) => (parent === undefined ? undefined : tell(parent)),
    getInitialSnapshot: () => fresh,
    transition: (snapshot, event, { self }) => {
      switch (event.type) {
        case 'turn.ended':
          tellAll(self, false);
          return snapshot;
        case 'effect.settled':
          if (event.output !== undefined) self._parent?.send({ type: 'turn.told', ...event.output });
          return snapshot;
        case 'xstate.stop':
          return stopped;
        default:
          return snapshot;
      }
    },
    start: ({ isRestored }, { self }) => {
      if (isRestored !== true) return;
      if (hostOf(self).executor === undefined) self._parent?.send({ type: 'session.woken' });
      tellAll(self, true);
    },
    getPersistedSnapshot: () => fresh,
    restoreSnapshot: (stored) => (stored === asleep ? fresh : restored),
  };
};
