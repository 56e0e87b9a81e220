import type { SessionSource } from './own-session.ts';
import { type ActorOptions, type ActorRefFrom, type SnapshotFrom, createActor } from 'xstate';
import { attachHost } from '../actors/host.ts';
import { type Asleep, isIdle, sameSeen } from './asleep.ts';

import { AgentError, errorData } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { mayResume } from '../machines/turn-steps.ts';
import { type TurnResult, resultOf } from '../machines/turn-result.ts';
import { firstSnapshot } from './first-snapshot.ts';
import { type Changes, createChanges } from './changes.ts';
import { type Decide, createDecide } from './decide.ts';
import { type SessionDocument, writeDocument } from '../documents/document.ts';
import { type Seen, seeActor } from '../documents/write-agent.ts';
import { EventFeed } from './event-feed.ts';
import { type LiveObjectsOfTurns, createLiveObjects, noObjects } from './live-objects.ts';
import { quiet } from './quiet-inspector.ts';
import { type Inbox, createInbox } from './inbox.ts';
import { type Journal, createJournal } from './journal.ts';
import { restoreActor } from './restore-actor.ts';
import { soFarOf } from './so-far-of.ts';
import { statusOf } from './session-status.ts';
import { type TurnWaiters, createTurnWaiters } from './turn-waiters.ts';
import { forgetViewer } from './viewers.ts';

/** What a session is made of, before anybody can call its methods. */
export interface SessionCore {
  actor: ActorRefFrom<AgentMachine>;
  feed: EventFeed;
  turns: TurnWaiters;
  live: LiveObjectsOfTurns;
  journal: Journal;
  /** Made for the first who asks: of most runs nobody does. */
  inbox(): Inbox;
  decide(): Decide;
  now(): SnapshotFrom<AgentMachine>;
  context(): AgentContext;
  isClosed(): boolean;
  /** Throws why the session can go on no more. */
  assertOpen(): void;
  /** What the turn has come to where it waits for somebody. */
  pendingResult(): TurnResult;
  until: Changes['until'];
  /** A decision or a message has come in for good when it is stored. */
  stored<T>(work: Promise<T>): Promise<T>;
  toJSON(): SessionDocument;
  /** What the session is made from again; undefined where its actor must stay. The core is over with it when its inbox is watched no more. */
  sleep(): Asleep | undefined;
  dispose(): Promise<void>;
}

export interface CoreOptions {
  /** It goes on from there, as if it had never been away. */
  asleep?: Asleep | undefined;
  /** It waits for somebody, and something that kept it awake may be over. */
  rested?: () => void;
}

/** Makes the actor and gives it its host; it is not started yet. Throws `incompatible-document` where a document does not fit the machine. */
export const createSessionCore = (source: SessionSource, { asleep, rested }: CoreOptions = {}): SessionCore => {
  const { document, store, machine } = source;
  const createdAt = asleep?.createdAt ?? document?.createdAt ?? source.now();
  const live = createLiveObjects(asleep?.objects ?? { ...noObjects, fallback: source.context });
  let isOver = false;
  /** As it was when it was closed; it is written where somebody asks for it. */
  let last: Seen | undefined;
  let isPaused = asleep !== undefined;
  let crash: AgentError | undefined;
  let inbox: Inbox | undefined;

  const snapshot = firstSnapshot(source, asleep);
  const options: ActorOptions<AgentMachine> = {
    input: source.input,
    ...(source.inspect === undefined ? {} : { inspect: quiet(source.inspect) }),
  };
  const actor = snapshot === undefined ? createActor(machine, options) : restoreActor(machine, snapshot, options);

  const now = () => actor.getSnapshot();
  const context = (): AgentContext => now().context;
  const isClosed = (): boolean => isOver || now().status !== 'active';
  const closed = (): AgentError =>
    crash ?? new AgentError('session-closed', `session "${context().sessionId}" is closed; open it again by its id`);
  const assertOpen = (): void => {
    if (crash !== undefined || isClosed()) throw closed();
  };

  const changes = createChanges({ isOver: () => crash !== undefined || isClosed(), why: closed });
  const begun = context();
  /** What the store has, or was made from. */
  let kept: AgentContext | undefined = begun;
  const feed = new EventFeed({
    // Whoever has the actor has the session.
    source: actor,
    saved: () => journal.idle(),
    soFar: (recent) => soFarOf(now(), { paused: isPaused ? pendingResult() : undefined, recent }),
    left: () => rest(),
  });
  const turns = createTurnWaiters(() => resultOf(context()));
  const running = new Set<AbortController>();
  const journal = createJournal({
    store,
    actor,
    sessionId: context().sessionId,
    agent: source.agent,
    createdAt,
    now: source.now,
    statusOf: () => statusOf(now().value),
    committed: asleep === undefined ? source.committed : asleep.committed,
    madeFrom: asleep === undefined ? document?.revision : asleep.revision,
    onConflict: (error) => breakWith(error),
  });
  const commit = (): void => {
    journal.commit().then(rest, (error: unknown) => feed.publish({ type: 'error', error: errorData(error) }));
  };
  /** Asked by everything that keeps a session awake, when it is over. */
  const rest = (): void => {
    if (isPaused) rested?.();
  };
  /** The session can go on no more: all that is under way ends, whoever waits is told. */
  const breakWith = (error: AgentError): void => {
    crash = error;
    for (const controller of running) controller.abort(error);
    if (now().status === 'active') actor.stop();
    inbox?.watch(false);
    feed.publish({ type: 'error', error: errorData(error) });
    feed.close();
    turns.fail(() => error);
    changes.tell();
  };
  const pendingResult = (): TurnResult => ({ ...resultOf(context()), outcome: { type: 'pending' } });
  /** Tells whoever waits for the turn that it waits for somebody: when all that was under way is heard, not while it passes by. */
  const pause = (): void => {
    if (isClosed() || !now().hasTag('waiting')) return;
    const result = pendingResult();
    const turn = context().turn.number;
    turns.pause(turn, result);
    if (!isPaused) feed.publish({ type: 'finish', turn, result });
    isPaused = true;
    rest();
  };

  attachHost(actor, {
    audience: feed,
    context: live.context,
    model: live.model,
    running,
    // An effect that somebody else runs was asked for by a state that is stored.
    barrier: () => (store.durable && source.executor === undefined ? journal.claim() : undefined),
    executor: source.executor,
    step: (transition) => {
      journal.note(transition);
      feed.step(transition);
    },
  });
  /** What tools added to a turn holds for that turn alone; one that can be gone on with still needs it. */
  const letGo = (turn: number): void => {
    const now = context();
    if (now.turn.number === turn && !mayResume(now)) source.forgetTools(now.turn.toolChanges);
  };
  actor.on('*', (event) => {
    if (event.type === 'finish' && context().turn.toolChanges.length > 0) queueMicrotask(() => letGo(event.turn));
    live.hear(event);
    turns.hear(event);
    feed.publish(event);
  });
  actor.subscribe({
    next: (snapshot) => {
      feed.rest();
      changes.tell();
      if (snapshot.hasTag('waiting')) {
        forgetViewer(actor);
        queueMicrotask(pause);
      } else isPaused = false;
      const isWatched = snapshot.hasTag('waiting') || (store.durable && snapshot.hasTag('busy'));
      if (isWatched || inbox !== undefined) inboxOf().watch(isWatched);
      if ((snapshot.hasTag('busy') && !store.durable) || snapshot.context === kept) return;
      kept = snapshot.context;
      commit();
    },
    error: (error) =>
      breakWith(
        new AgentError('machine-error', `the session's machine broke: ${errorData(error).message}`, { cause: error }),
      ),
    complete: () => {
      feed.close();
      turns.fail(closed);
      changes.tell();
    },
  });

  let asking = 0;
  let decide: Decide | undefined;
  const decideOf = (): Decide =>
    (decide ??= createDecide({
      actor,
      authorize: source.authorize,
      keepAwake: async (work) => {
        asking += 1;
        try {
          return await work();
        } finally {
          asking -= 1;
          rest();
        }
      },
      context: live.context,
      assertOpen,
      until: changes.until,
    }));
  const stored = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    if (crash !== undefined) throw crash;
    if (store.durable && !isClosed()) await journal.commit();
    return done;
  };
  const inboxOf = (): Inbox =>
    (inbox ??= createInbox({
      store,
      sessionId: context().sessionId,
      journal,
      actor,
      decide: decideOf(),
      isLeft: () => isOver || crash !== undefined,
      publish: (event) => feed.tell(event),
      rested: rest,
      mayHaveMissed: asleep !== undefined,
    }));

  const toJSON = (): SessionDocument => {
    if (last === undefined && crash !== undefined) throw crash;
    return writeDocument(last ?? seeActor(actor), context().sessionId, {
      agent: source.agent,
      createdAt,
      revision: journal.revision(),
    });
  };

  const isNeeded = (source.executor ?? source.inspect) !== undefined || source.staysAwake === true;
  const mustStay = (): boolean => isNeeded || !isPaused || isOver || crash !== undefined;
  const isAtWork = (): boolean =>
    running.size + asking > 0 || changes.isWaitedFor() || inbox?.isReading() === true || !feed.isSilent();
  const sleep = (): Asleep | undefined => {
    if (mustStay() || isAtWork() || !journal.isAtRest()) return undefined;
    const objects = live.kept();
    const seen = seeActor(actor);
    if (objects === undefined || !isIdle(seen)) return undefined;
    const committed = journal.kept();
    return { seen: sameSeen(seen, committed), committed, revision: journal.revision(), createdAt, objects };
  };

  const dispose = async (): Promise<void> => {
    const telling = source.told(actor);
    if (telling !== undefined) await telling;
    // What is left of a machine that broke is no session: the store keeps what it has.
    if (crash === undefined) {
      last = seeActor(actor);
      journal.seal();
    }
    source.forgetTools(context().turn.toolChanges);
    isOver = true;
    inbox?.watch(false);
    actor.stop();
    feed.close();
    turns.fail(closed);
    changes.tell();
    if (crash === undefined && context() !== begun) await journal.commit();
    else await journal.idle().catch(() => undefined);
  };

  return {
    actor,
    feed,
    turns,
    live,
    journal,
    inbox: inboxOf,
    decide: decideOf,
    now,
    context,
    isClosed,
    assertOpen,
    pendingResult,
    until: changes.until,
    stored,
    toJSON,
    sleep,
    dispose,
  };
};
