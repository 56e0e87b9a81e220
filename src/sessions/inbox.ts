import type { ActorRefFrom } from 'xstate';
import { AgentError, errorData } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { isWellFormed } from '../machines/outside-event.ts';
import type { Command, SessionHome } from '../stores/store.ts';
import type { AgentEvent } from './agent-event.ts';
import type { Decide } from './decide.ts';
import type { Journal } from './journal.ts';

/** What others leave in the store for a session that lives here: decisions, a stop, messages. */
export interface Inbox {
  /** Carries out what is there, and commits that. What is refused is told as an `error` event and is gone. */
  read(): Promise<void>;
  /** Whether it is looked at whenever something comes. */
  watch(isWatched: boolean): void;
}

export interface InboxOptions {
  store: SessionHome;
  sessionId: string;
  journal: Journal;
  actor: ActorRefFrom<AgentMachine>;
  decide: Decide;
  publish(event: AgentEvent): void;
}

/** Held weakly: a session that nobody else holds is not kept by being watched; whoever opens it next reads its inbox. */
const watchWeakly = (store: SessionHome, sessionId: string, held: WeakRef<Inbox>): (() => void) | undefined => {
  const end = store.watch?.(sessionId, () => {
    const inbox = held.deref();
    if (inbox === undefined) end?.();
    // The next look tells what failed in this one.
    else inbox.read().catch(() => undefined);
  });
  return end;
};

export const createInbox = ({ store, sessionId, journal, actor, decide, publish }: InboxOptions): Inbox => {
  const seen = new Set<number>();
  let reading: Promise<void> | undefined;
  let isAskedAgain = false;
  let leave: (() => void) | undefined;

  /** `take` comes in the same moment as the event: the commit that has the one has the other. */
  const carryOut = async ({ event }: Command, take: () => void): Promise<void> => {
    if (event.type === 'approval.granted' || event.type === 'approval.rejected' || event.type === 'call.result') {
      const { type, callId, ...given } = event;
      const { output, ...rest } = { output: undefined, ...given };
      await decide(type, callId, rest, output, take);
      return;
    }
    if (!isWellFormed(event)) {
      throw new AgentError('invalid-option', `a command of the inbox is no event that a session takes: ${event.type}`);
    }
    take();
    actor.send(event);
  };

  const readOnce = async (): Promise<void> => {
    const commands = (await store.inbox(sessionId)).filter(({ id }) => !seen.has(id));
    for (const command of commands) {
      seen.add(command.id);
      let isTaken = false;
      const take = (): void => {
        if (!isTaken) journal.take(command.id);
        isTaken = true;
      };
      try {
        await carryOut(command, take);
      } catch (error) {
        publish({ type: 'error', error: errorData(error) });
      }
      take();
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
    read: () => {
      if (reading !== undefined) isAskedAgain = true;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    watch: (isWatched) => {
      if (isWatched === (leave !== undefined) || store.watch === undefined) return;
      leave?.();
      leave = undefined;
      if (isWatched) leave = watchWeakly(store, sessionId, new WeakRef(inbox));
    },
  };
  return inbox;
};
