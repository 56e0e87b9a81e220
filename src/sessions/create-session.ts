import { type ActorOptions, type AnyActorRef, createActor } from 'xstate';
import { attachHost } from '../actors/host.ts';
import { AgentError, errorData } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import type { AgentContext, AgentInput } from '../machines/agent-context.ts';
import { mayResume } from '../machines/turn-steps.ts';
import type { TurnOptions } from '../machines/turn.ts';
import type { Fate } from '../machines/chart-event.ts';
import { pendingOf } from '../machines/round.ts';
import type { PendingCall, ToolChange } from '../tools/call.ts';
import { type TurnResult, resultOf } from '../machines/turn-result.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { AgentEvent } from './agent-event.ts';
import type { Authorize } from './agent-options.ts';
import {
  checkCallId,
  checkEventsOptions,
  checkSendOptions,
  checkSessionId,
  checkStopReason,
} from './check-options.ts';
import { checkTools } from './check-tools.ts';
import { createDecide } from './decide.ts';
import { type SessionDocument, snapshotOf, writeDocument } from '../documents/document.ts';
import { type EventReader, type ReadOptions, createEventFeed } from './event-feed.ts';
import { type LiveObjects, createLiveObjects } from './live-objects.ts';
import { newId } from './new-id.ts';
import { openCallOf } from './open-call.ts';
import { quiet } from './quiet-inspector.ts';
import { createInbox } from './inbox.ts';
import { documentAt } from './load-stored.ts';
import { createJournal } from './journal.ts';
import type { Committed } from './next-commit.ts';
import type { Inspector, RunResult, Session } from './session.ts';
import { restoreActor } from './restore-actor.ts';
import { statusOf } from './session-status.ts';
import type { SessionStore } from '../stores/store.ts';
import { watchTransitions } from './transitions.ts';
import { joinTurn } from './stream-turn.ts';
import { failedTurn } from './turn-error.ts';
import { turnSoFar } from './turn-so-far.ts';
import { type Posted, createTurnWaiters, refusedFate } from './turn-waiters.ts';

export interface SessionSource {
  machine: AgentMachine;
  agent: string;
  store: SessionStore;
  /** ms since 1970. */
  now(): number;
  input?: AgentInput;
  document?: SessionDocument;
  /** The document comes from the store, whose messages are taken as they are. */
  isStored?: boolean;
  /** What the store has of the session; looked up before the first commit where that is not known yet. */
  committed?: Committed | (() => Promise<Committed | undefined>);
  /** For the tools of the turns to come; never stored. */
  context?: unknown;
  inspect?: Inspector | undefined;
  /** The structured answer as its schema gives it. */
  parseOutput: ParseOutput;
  forgetTools: (changes: readonly ToolChange[]) => void;
  /** A session of its own that goes on from a document. */
  fork(document: SessionDocument, id: string): Promise<OwnSession>;
  /** Settles when everybody is told of the turns that are over. */
  told: (actor: AnyActorRef) => Promise<unknown> | undefined;
  authorize?: Authorize | undefined;
}

export type ParseOutput = (raw: JsonValue) => unknown;

/** A session with what only this package does with it. */
export interface OwnSession extends Session {
  read(options?: ReadOptions): EventReader;
  /** To all who read along. */
  publish(event: AgentEvent): void;
  /** Carries out the commands that others left in the store. */
  readInbox(): Promise<void>;
  /** Settles when what is there now is committed. */
  commit(): Promise<void>;
  /** Nothing of it is stored any more. */
  detach(): void;
  /** Settles when the session is closed and saved; absent before it is asked to close. */
  readonly disposed: Promise<void> | undefined;
  setContext(context: unknown): void;
  post(
    messages: Message[],
    options: LiveObjects & { mode: 'queue' | 'steer'; turn?: TurnOptions | undefined; id?: string },
  ): Posted & { withdraw(reason: string): void };
  /** A failed turn is thrown, every other one is given, with its structured answer parsed. */
  finish(result: TurnResult): Promise<RunResult>;
}

/** Makes the actor, gives it its host, and starts it. Throws `incompatible-document` where a document does not fit the machine. */
export const createSession = (source: SessionSource): OwnSession => {
  const { document, store, machine } = source;
  const createdAt = document?.createdAt ?? source.now();
  const live = createLiveObjects(source.context);
  let isOver = false;
  let last: SessionDocument | undefined;
  let disposing: Promise<void> | undefined;
  let isPaused = false;
  /** What the store has, or was made from. */
  let kept: AgentContext | undefined;
  let crash: AgentError | undefined;
  const watchers = new Set<() => void>();

  const trust = source.isStored === true ? 'messages' : 'nothing';
  const snapshot = document === undefined ? undefined : snapshotOf(machine, document, trust);
  if (snapshot !== undefined) checkTools(machine, snapshot);
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

  const begun = context();
  kept = begun;
  const feed = createEventFeed(actor, {
    saved: () => journal.idle(),
    soFar: (recent) => turnSoFar(now(), { paused: isPaused ? pendingResult() : undefined, recent }),
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
    committed: source.committed,
    madeFrom: document?.revision,
    onConflict: (error) => breakWith(error),
  });
  const commit = (): void => {
    journal.commit().catch((error: unknown) => feed.publish({ type: 'error', error: errorData(error) }));
  };
  /** The session can go on no more: all that is under way ends, whoever waits is told. */
  const breakWith = (error: AgentError): void => {
    crash = error;
    for (const controller of running) controller.abort(error);
    if (now().status === 'active') actor.stop();
    inbox.watch(false);
    feed.publish({ type: 'error', error: errorData(error) });
    feed.close();
    turns.fail(error);
    wake();
  };
  const pendingResult = (): TurnResult => ({ ...resultOf(context()), outcome: { type: 'pending' } });
  const wake = (): void => {
    for (const watcher of watchers) watcher();
  };
  /** Tells whoever waits for the turn that it waits for somebody: when all that was under way is heard, not while it passes by. */
  const pause = (): void => {
    if (isClosed() || !now().hasTag('waiting')) return;
    const result = pendingResult();
    const turn = context().turn.number;
    turns.pause(turn, result);
    if (!isPaused) feed.publish({ type: 'finish', turn, result });
    isPaused = true;
  };

  attachHost(actor, {
    hasReaders: feed.hasReaders,
    behind: feed.behind,
    emit: feed.publish,
    context: live.context,
    model: live.model,
    running,
    barrier: () => (store.durable ? journal.claim() : undefined),
  });
  actor.on('*', (event) => {
    live.hear(event);
    turns.hear(event);
    feed.publish(event);
  });
  actor.subscribe({
    next: (snapshot) => {
      wake();
      if (snapshot.hasTag('waiting')) queueMicrotask(pause);
      else isPaused = false;
      inbox.watch(snapshot.hasTag('waiting') || (store.durable && snapshot.hasTag('busy')));
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
      turns.fail(closed());
      wake();
    },
  });

  /** Resolves when `find` has something: asked at once, then after every change. Rejects when the session closes before. */
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && crash === undefined && !isClosed()) return;
        watchers.delete(look);
        if (found === undefined) reject(closed());
        else resolve(found);
      };
      watchers.add(look);
      look();
    });

  // A copy: what is shown can be changed by whoever holds it, what was recorded is what runs (R29).
  const shown = (): PendingCall[] => structuredClone(pendingOf(context()));
  const decide = createDecide({ actor, authorize: source.authorize, context: live.context, assertOpen, until });
  /** A decision or a message has come in for good when it is stored. */
  const stored = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    if (crash !== undefined) throw crash;
    if (store.durable && !isClosed()) await journal.commit();
    return done;
  };
  const storedFate = (fate: Promise<Fate>): Promise<Fate> => {
    const kept = stored(fate);
    // Whoever does not await it is not told.
    kept.catch(() => undefined);
    return kept;
  };
  const inbox = createInbox({ store, sessionId: context().sessionId, journal, actor, decide, publish: feed.tell });
  watchTransitions(actor, journal.note);

  const dispose = async (): Promise<void> => {
    const telling = source.told(actor);
    if (telling !== undefined) await telling;
    // What is left of a machine that broke is no session: the store keeps what it has.
    if (crash === undefined) {
      last = session.toJSON();
      journal.seal();
    }
    source.forgetTools(context().turn.toolChanges);
    isOver = true;
    inbox.watch(false);
    actor.stop();
    feed.close();
    turns.fail(closed());
    wake();
    if (crash === undefined && context() !== begun) await journal.commit();
    else await journal.idle().catch(() => undefined);
  };

  const session: OwnSession = {
    get id() {
      return context().sessionId;
    },
    actor,
    get messages() {
      return context().messages;
    },
    get pending() {
      return shown();
    },
    get status() {
      return isClosed() ? 'closed' : statusOf(now().value);
    },
    // Not an async function: the fate itself is given, so that a rejection that nobody asks for ends no process.
    send: (message, given = {}) => {
      try {
        checkSendOptions(given);
        return storedFate(session.post(checkMessages(message), { mode: given.mode ?? 'queue' }).fate);
      } catch (error) {
        return refusedFate(error as Error);
      }
    },
    approve: (callId, given) => stored(decide('approval.granted', callId, given)),
    reject: (callId, given) => stored(decide('approval.rejected', callId, given)),
    respond: (callId, output, given) => stored(decide('call.result', callId, given, output)),
    cancel: async (callId) => {
      checkCallId(callId, 'cancel');
      assertOpen();
      const call = openCallOf(actor, callId);
      if (call === undefined)
        throw new AgentError('unknown-call', `there is no open call ${JSON.stringify(callId)} in this session`);
      if (call.phase !== 'settled') actor.send({ type: 'call.cancel', callId });
    },
    stop: async (reason) => {
      checkStopReason(reason);
      assertOpen();
      if (now().matches('idle') || now().hasTag('settled')) return;
      actor.send({ type: 'turn.stop', ...(reason === undefined ? {} : { reason }) });
      await until(() => now().hasTag('settled') || undefined);
    },
    retry: async () => {
      assertOpen();
      if (!now().hasTag('settled') || !mayResume(context())) {
        throw new AgentError('nothing-to-retry', 'there is no turn that failed, was stopped or paused at a limit');
      }
      actor.send({ type: 'turn.retry' });
    },
    settled: async () => {
      if (now().matches('idle')) {
        throw new AgentError('session-idle', 'no turn has begun in this session; send a message first');
      }
      const result = await until(() => {
        if (now().hasTag('waiting')) return pendingResult();
        return now().hasTag('settled') ? resultOf(context()) : undefined;
      });
      return session.finish(result);
    },
    finish: async ({ output, ...result }) => {
      // A turn is over for its caller when it is stored.
      await source.told(actor);
      await journal.idle();
      if (result.outcome.type === 'failed') throw failedTurn(result, result.outcome);
      return output === undefined ? result : { ...result, output: await source.parseOutput(output) };
    },
    events: (given) => session.read(checkEventsOptions(given)),
    stream: () => joinTurn(session),
    fork: async ({ at, id = newId() } = {}) => {
      checkSessionId(id, 'fork');
      await journal.idle();
      return source.fork(at === undefined ? session.toJSON() : await documentAt(store, session.id, at), id);
    },
    toJSON: () => {
      if (last !== undefined) return structuredClone(last);
      if (crash !== undefined) throw crash;
      return writeDocument(actor, context().sessionId, {
        agent: source.agent,
        createdAt,
        revision: journal.revision,
      });
    },
    read: (options) => {
      const reader = feed.read(options);
      if (isClosed()) reader.close();
      return reader;
    },
    publish: feed.publish,
    setContext: live.setContext,
    readInbox: inbox.read,
    commit: journal.commit,
    detach: journal.detach,
    post: (messages, { mode, turn, id = newId(), ...given }) => {
      assertOpen();
      const posted = turns.expect(id);
      live.giveWith(id, given);
      actor.send({
        type: 'user.message',
        id,
        mode,
        messages,
        ...(turn === undefined ? {} : { options: turn }),
      });
      // Queued behind somebody's decision: the caller learns that it waits, the message stays.
      if (now().hasTag('waiting')) turns.pause(now().context.turn.number, pendingResult());
      const withdraw = (reason: string): void => {
        if (isClosed()) return;
        if (context().inbox.some((queued) => queued.id === id)) actor.send({ type: 'message.withdraw', id, reason });
        else if (turns.isUnderWay(id)) actor.send({ type: 'turn.stop', reason });
      };
      return { ...posted, withdraw };
    },
    get disposed() {
      return disposing;
    },
    [Symbol.asyncDispose]: () => {
      disposing ??= dispose();
      return disposing;
    },
  };
  actor.start();
  return session;
};
