import type { ActorRefFrom } from 'xstate';
import { AgentError, errorData } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import type { OutsideEvent } from '../machines/agent-context.ts';
import type { Command, SessionHome } from '../stores/store.ts';
import type { AgentEvent } from './agent-event.ts';
import { checkCommand } from './check-command.ts';
import type { Decide } from './decide.ts';
import type { Journal } from './journal.ts';
import { newId } from './new-id.ts';

/** What others leave in the store for a session that lives here: decisions, a stop, messages. */
export interface Inbox {
  /** Carries out what is there, and commits that. What is refused is kept with the reason, and told as an `error` event. */
  readInbox(): Promise<void>;
  isReading(): boolean;
  /** Whether it is looked at whenever something comes. */
  watch(isWatched: boolean): void;
}

export interface InboxOptions {
  store: SessionHome;
  sessionId: string;
  journal: Journal;
  actor: ActorRefFrom<AgentMachine>;
  decide: Decide;
  /** The session goes on no more here, and may elsewhere. */
  isLeft(): boolean;
  publish(event: AgentEvent): void;
  /** What was to be read is read. */
  rested(): void;
  /** Something may have come before it was made. */
  mayHaveMissed: boolean;
}

/** What ends the watching of those that are gone. */
const unheld = new FinalizationRegistry<() => void>((end) => end());

/** Held weakly: a session that nobody else holds is not kept by being watched; whoever opens it next reads its inbox. */
export const watchWeakly = (
  store: SessionHome,
  sessionId: string,
  reader: { readInbox(): Promise<void> },
): (() => void) | undefined => {
  const held = new WeakRef(reader);
  // The next look tells what failed in this one.
  const end = store.watch?.(
    sessionId,
    () =>
      void held
        .deref()
        ?.readInbox()
        .catch(() => undefined),
  );
  if (end === undefined) return undefined;
  unheld.register(reader, end, held);
  return () => {
    unheld.unregister(held);
    end();
  };
};

/** The command's message with an id, so that it can be heard what becomes of it. */
const named = (event: OutsideEvent): OutsideEvent =>
  event?.type === 'user.message' && event.id === undefined ? { ...event, id: newId() } : event;

export const createInbox = (options: InboxOptions): Inbox => {
  const { store, sessionId, journal, actor, decide, isLeft, publish } = options;
  const seen = new Set<number>();
  let reading: Promise<void> | undefined;
  let isAskedAgain = false;
  let leave: (() => void) | undefined;
  /** Nobody watched for a while in which something may have come. */
  let { mayHaveMissed } = options;

  /** Throws where the chart refuses a message; it says so within the step. */
  const send = (event: OutsideEvent): void => {
    let refusal: string | undefined;
    const hearing = actor.on('message-fate', ({ messageId, fate }) => {
      if (event.type === 'user.message' && messageId === event.id && fate.type === 'refused') refusal = fate.reason;
    });
    actor.send(event);
    hearing.unsubscribe();
    if (refusal !== undefined) throw new AgentError('session-busy', `the message was refused: ${refusal}`);
  };

  /** `take` comes in the same moment as the event: the commit that has the one has the other. */
  const carryOut = async ({ event }: Pick<Command, 'event'>, take: () => void): Promise<void> => {
    checkCommand(actor, event);
    if (event.type === 'approval.granted' || event.type === 'approval.rejected' || event.type === 'call.result') {
      const { type, callId, ...given } = event;
      const { output, ...rest } = { output: undefined, ...given };
      // Whether an edit fits is known later. Until then its command stays: carried out once more it is the same decision.
      const isEdit = type === 'approval.granted' && event.input !== undefined;
      await decide(type, callId, rest, output, isEdit ? undefined : take);
      return;
    }
    send(event);
    take();
  };

  const readOnce = async (): Promise<void> => {
    const commands = (await store.inbox(sessionId)).filter(({ id }) => !seen.has(id));
    for (const { id, event } of commands) {
      seen.add(id);
      let isTaken = false;
      const take = (): void => {
        if (!isTaken) journal.take(id);
        isTaken = true;
      };
      try {
        await carryOut({ event: named(event) }, take);
        take();
      } catch (error) {
        // It waits for the next one that opens the session.
        if (isLeft()) break;
        const { code = 'error', message } = errorData(error);
        if (!isTaken) journal.refuse({ id, code, message });
        publish({ type: 'error', error: errorData(error), command: id });
      }
    }
    if (commands.length > 0) await journal.commit();
  };
  const read = async (): Promise<void> => {
    do {
      isAskedAgain = false;
      await readOnce();
    } while (isAskedAgain);
  };

  const inbox: Inbox = {
    isReading: () => reading !== undefined,
    readInbox: () => {
      if (reading !== undefined) isAskedAgain = true;
      reading ??= read().finally(() => {
        reading = undefined;
        mayHaveMissed = leave === undefined;
        options.rested();
      });
      return reading;
    },
    watch: (isWatched) => {
      if (isWatched === (leave !== undefined) || store.watch === undefined) return;
      leave?.();
      leave = undefined;
      if (!isWatched) {
        mayHaveMissed = true;
        return;
      }
      leave = watchWeakly(store, sessionId, inbox);
      // What fails here is told by the next commit.
      if (mayHaveMissed) inbox.readInbox().catch(() => undefined);
    },
  };
  return inbox;
};
