import type { OwnSession, SessionSource } from './own-session.ts';
import { createSessionCore } from './session-core.ts';
import { AgentError } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import { pendingOf } from '../machines/round.ts';
import type { PendingCall } from '../tools/call.ts';
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
import { newId } from './new-id.ts';
import { documentAt } from './load-stored.ts';
import { statusOf } from './session-status.ts';
import { joinTurn } from './stream-turn.ts';
import { failedTurn } from './turn-error.ts';
import { refusedFate } from './turn-waiters.ts';

/** Makes a session and starts it. Throws `incompatible-document` where a document does not fit the machine. */
export const createSession = (source: SessionSource): OwnSession => {
  const core = createSessionCore(source);
  const { actor, feed, turns, live, journal, inbox, decide } = core;
  const { now, context, isClosed, assertOpen, pendingResult, until, stored } = core;
  let disposing: Promise<void> | undefined;

  // A copy: what is shown can be changed by whoever holds it, what was recorded is what runs (R29).
  const shown = (): PendingCall[] => structuredClone(pendingOf(context()));
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
        return session.storedFate(session.post(checkMessages(message), { mode: given.mode ?? 'queue' }).fate);
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
      if (checkCancel(actor, callId)) actor.send({ type: 'call.cancel', callId });
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
      checkRetry(actor);
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
    fork: async (given) => {
      const { at, id = newId() } = checkForkOptions(given);
      await journal.idle();
      return source.fork(at === undefined ? session.toJSON() : await documentAt(source.store, session.id, at), id);
    },
    toJSON: core.toJSON,
    read: (options) => {
      const reader = feed.read(options);
      if (isClosed()) reader.close();
      return reader;
    },
    storedFate: (fate: Promise<Fate>) => heldDuring(stored(fate), actor),
    publish: (event) => feed.publish(event),
    setContext: live.setContext,
    readInbox: inbox.read,
    commit: journal.commit,
    detach: journal.detach,
    post: (messages, { mode, turn, id = newId(), ...given }) => {
      assertOpen();
      if (messages.every(isEmptyMessage))
        throw new AgentError(
          'invalid-message',
          'the message says nothing: give a text that is not empty, or another part',
        );
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
      if (now().hasTag('waiting')) {
        const { number } = context().turn;
        turns.pause(number, pendingResult());
        feed.publish({ type: 'finish', turn: number, result: pendingResult() });
      }
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
      disposing ??= core.dispose();
      return disposing;
    },
  };
  actor.start();
  return session;
};
