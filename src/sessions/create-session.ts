import { createOwnSlot } from '../actors/own-slot.ts';
import { nextTask } from '../actors/breath.ts';
import type { OwnSession, SessionSource } from './own-session.ts';
import { type SessionCore, createSessionCore } from './session-core.ts';
import type { Asleep } from './asleep.ts';
import { AgentError } from '../errors.ts';
import { writeDocument } from '../documents/document.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import type { Fate } from '../machines/chart-event.ts';
import { ownEvent } from '../machines/own-event.ts';
import { pendingOf } from '../machines/round.ts';
import { resultOf } from '../machines/turn-result.ts';
import { isEmptyMessage } from '../messages/own-options.ts';
import { checkMessages } from '../messages/check-message.ts';
import { heldDuring } from './awaited.ts';
import { checkCancel, checkRetry } from './check-asked.ts';
import {
  checkCallId,
  checkEventsOptions,
  checkForkOptions,
  checkSendOptions,
  checkStopReason,
} from './check-options.ts';
import { bindWhenTaken } from './bind-when-taken.ts';
import { watchWeakly } from './inbox.ts';
import { newId } from './new-id.ts';
import { documentAt } from './load-stored.ts';
import type { RunResult } from './session.ts';
import { statusOf } from './session-status.ts';
import { joinTurn } from './stream-turn.ts';
import { failedTurn } from './turn-error.ts';
import { refusedFate } from './turn-waiters.ts';

/** Whoever has the actor has the session: another one must not be made of the same conversation. */
const sessionOf = createOwnSlot<OwnSession>('session');

/**
 * A session of this process. While it waits for somebody and nobody holds its actor, the actor is let go: what the session knows is kept, and
 * all else is made from that again when somebody comes. A class, since thousands may wait: their methods are the same.
 */
class LocalSession implements OwnSession {
  readonly #source: SessionSource;
  #core: SessionCore | undefined;
  #asleep: Asleep | undefined;
  /** Watches for commands while the session sleeps. */
  #unwatch: (() => void) | undefined;
  #isDrowsy = false;
  #isHeld = false;
  #disposing: Promise<void> | undefined;

  /** Throws `incompatible-document` where a document does not fit the machine. `given` is what the first actor alone needs. */
  constructor(source: SessionSource, given: Partial<SessionSource>) {
    this.#source = source;
    this.#begin({ ...source, ...given }).actor.start();
  }

  #begin(source: SessionSource, asleep?: Asleep): SessionCore {
    const core = createSessionCore(source, { asleep, rested: () => this.#drowse() });
    sessionOf.put(core.actor, this);
    this.#core = core;
    this.#asleep = undefined;
    return core;
  }

  #awake(): SessionCore {
    if (this.#core !== undefined) return this.#core;
    const core = this.#begin(this.#source, this.#asleep);
    core.actor.start();
    this.#unwatch?.();
    this.#unwatch = undefined;
    return core;
  }

  /** It falls asleep when nobody has come by then: most decisions of a program come at once. */
  #drowse(): void {
    if (this.#isDrowsy || this.#isHeld) return;
    this.#isDrowsy = true;
    void nextTask().then(() => {
      this.#isDrowsy = false;
      if (!this.#isHeld && this.#disposing === undefined) this.#sleep();
    });
  }

  #sleep(): void {
    const core = this.#core;
    const asleep = core?.sleep();
    if (core === undefined || asleep === undefined) return;
    this.#asleep = asleep;
    this.#core = undefined;
    // At no moment does nobody watch: a store may take what came before it was asked for known.
    this.#unwatch = watchWeakly(this.#source.store, this.id, this);
    core.inbox().watch(false);
  }

  get #context(): AgentContext {
    return this.#asleep === undefined ? this.#awake().context() : (this.#asleep.seen.context as AgentContext);
  }

  get id() {
    return this.#context.sessionId;
  }

  get actor() {
    this.#isHeld = true;
    return this.#awake().actor;
  }

  get messages() {
    return this.#context.messages;
  }

  get pending() {
    // A copy: what is shown can be changed by whoever holds it, what was recorded is what runs (R29).
    return structuredClone(pendingOf(this.#context));
  }

  get status() {
    if (this.#asleep !== undefined) return statusOf(this.#asleep.seen.value);
    const { isClosed, now } = this.#awake();
    return isClosed() ? 'closed' : statusOf(now().value);
  }

  get turn() {
    return this.#context.turn;
  }

  get disposed() {
    return this.#disposing;
  }

  // Not an async function: the fate itself is given, so that a rejection that nobody asks for ends no process.
  send(...[message, given = {}]: Parameters<OwnSession['send']>): Promise<Fate> {
    try {
      checkSendOptions(given);
      return this.storedFate(this.post(checkMessages(message), { mode: given.mode ?? 'queue' }).fate);
    } catch (error) {
      return refusedFate(error as Error);
    }
  }

  approve(...[callId, given]: Parameters<OwnSession['approve']>): Promise<void> {
    const { stored, decide } = this.#awake();
    return stored(decide()('approval.granted', callId, given));
  }

  reject(...[callId, given]: Parameters<OwnSession['reject']>): Promise<void> {
    const { stored, decide } = this.#awake();
    return stored(decide()('approval.rejected', callId, given));
  }

  respond(...[callId, output, given]: Parameters<OwnSession['respond']>): Promise<void> {
    const { stored, decide } = this.#awake();
    return stored(decide()('call.result', callId, given, output));
  }

  async cancel(callId: string): Promise<void> {
    checkCallId(callId, 'cancel');
    const { actor, assertOpen } = this.#awake();
    assertOpen();
    if (checkCancel(actor, callId)) actor.send({ type: 'call.cancel', callId });
  }

  async stop(reason?: string): Promise<void> {
    checkStopReason(reason);
    const { actor, now, assertOpen, until } = this.#awake();
    assertOpen();
    if (now().matches('idle') || now().hasTag('settled')) return;
    actor.send({ type: 'turn.stop', ...(reason === undefined ? {} : { reason }) });
    await until(() => now().hasTag('settled') || undefined);
  }

  async retry(): Promise<void> {
    const { actor, assertOpen } = this.#awake();
    assertOpen();
    checkRetry(actor);
    actor.send({ type: 'turn.retry' });
  }

  async settled(): ReturnType<OwnSession['settled']> {
    const { now, context, pendingResult, until } = this.#awake();
    if (now().matches('idle')) {
      throw new AgentError('session-idle', 'no turn has begun in this session; send a message first');
    }
    const result = await until(() => {
      if (now().hasTag('waiting')) return pendingResult();
      return now().hasTag('settled') ? resultOf(context()) : undefined;
    });
    return this.finish(result);
  }

  async finish(...[given]: Parameters<OwnSession['finish']>): ReturnType<OwnSession['finish']> {
    // A turn is over for its caller when it is stored.
    const core = this.#core;
    if (core !== undefined) {
      await this.#source.told(core.actor);
      await core.journal.idle();
    }
    if (given.outcome.type === 'failed') throw failedTurn(given, given.outcome);
    const result: RunResult = { ...given };
    if (given.output !== undefined) result.output = await this.#source.parseOutput(given.output);
    return result;
  }

  events(...[given]: Parameters<OwnSession['events']>): ReturnType<OwnSession['events']> {
    return this.read(checkEventsOptions(given));
  }

  stream(): ReturnType<OwnSession['stream']> {
    return joinTurn(this);
  }

  async fork(...[given]: Parameters<OwnSession['fork']>): ReturnType<OwnSession['fork']> {
    const { fork, store } = this.#source;
    const { at, id = newId() } = checkForkOptions(given);
    await this.#core?.journal.idle();
    return fork(at === undefined ? this.toJSON() : await documentAt(store, this.id, at), id);
  }

  toJSON(): ReturnType<OwnSession['toJSON']> {
    if (this.#asleep === undefined) return this.#awake().toJSON();
    const { seen, createdAt, revision } = this.#asleep;
    return writeDocument(seen, this.id, { agent: this.#source.agent, createdAt, revision });
  }

  read(...[options]: Parameters<OwnSession['read']>): ReturnType<OwnSession['read']> {
    const { feed, isClosed } = this.#awake();
    const reader = feed.read(options);
    if (isClosed()) reader.close();
    return reader;
  }

  storedFate(fate: Promise<Fate>): Promise<Fate> {
    return heldDuring(this.#awake().stored(fate), this);
  }

  publish(...[event]: Parameters<OwnSession['publish']>): void {
    this.#awake().feed.publish(event);
  }

  setContext(context: unknown): void {
    this.#awake().live.setContext(context);
  }

  readInbox(): Promise<void> {
    return this.#awake().inbox().readInbox();
  }

  commit(): Promise<void> {
    return this.#awake().journal.commit();
  }

  detach(): void {
    this.#awake().journal.detach();
  }

  post(...[messages, options]: Parameters<OwnSession['post']>): ReturnType<OwnSession['post']> {
    const { mode, turn, id = newId() } = options;
    const { actor, feed, turns, live, now, context, assertOpen, pendingResult } = this.#awake();
    assertOpen();
    if (messages.every(isEmptyMessage))
      throw new AgentError(
        'invalid-message',
        'the message says nothing: give a text that is not empty, or another part',
      );
    const posted = turns.expect(id);
    live.giveWith(id, options);
    actor.send(
      ownEvent({ type: 'user.message', id, mode, messages, ...(turn === undefined ? {} : { options: turn }) }),
    );
    // Queued behind somebody's decision: the caller learns that it waits, the message stays.
    if (now().hasTag('waiting')) {
      const { number } = context().turn;
      turns.pause(number, pendingResult());
      feed.publish({ type: 'finish', turn: number, result: pendingResult() });
    }
    return { ...posted, withdraw: (reason) => this.#withdraw(id, reason) };
  }

  #withdraw(id: string, reason: string): void {
    const { actor, turns, context, isClosed } = this.#awake();
    if (isClosed()) return;
    if (context().inbox.some((queued) => queued.id === id)) actor.send({ type: 'message.withdraw', id, reason });
    else if (turns.isUnderWay(id)) actor.send({ type: 'turn.stop', reason });
  }

  [Symbol.asyncDispose](): Promise<void> {
    // One that sleeps is not woken: its actor does not start again.
    this.#disposing ??= (this.#core ?? this.#begin(this.#source, this.#asleep)).dispose();
    this.#unwatch?.();
    return this.#disposing;
  }
}

bindWhenTaken(LocalSession.prototype);

/** Makes a session and starts it. Throws `incompatible-document` where a document does not fit the machine. */
export const createSession = (source: SessionSource, given: Partial<SessionSource> = {}): OwnSession =>
  new LocalSession(source, given);
