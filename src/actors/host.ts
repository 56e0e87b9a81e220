import type { AnyActorRef } from 'xstate';
import type { ChatModel } from '../models/chat-model.ts';
import type { DeltaEvent } from './delta-event.ts';
import type { Executor } from './executor.ts';
import { type OwnSlot, createOwnSlot } from './own-slot.ts';

/** Readers that have more to read than they should. */
export interface Hold {
  /** Resolves when none of them is behind any more. */
  over: Promise<unknown>;
  /** They are waited for no longer, until they read again. */
  giveUp(): void;
}

/** Those who read along. */
export interface Audience {
  /** Deltas are made only for somebody who reads them. */
  hasReaders(): boolean;
  publish(event: DeltaEvent): void;
  /** Who holds a model up that is read faster than its reply is; undefined where nobody does. */
  behind(): Hold | undefined;
}

/** What a session gives to the effects of its actors. A machine that runs without a session has none of it, and works. */
export interface Host {
  readonly audience: Audience;
  /** What the application gave to the turn under way. */
  context(): unknown;
  /** Asked in this turn in place of the agent's own model. */
  model(): ChatModel | undefined;
  /** The effects at work: all are aborted when the session breaks. */
  readonly running: Set<AbortController>;
  /** Resolves when the state that asks for an effect is stored; undefined where nothing is (R38). */
  barrier(): Promise<void> | undefined;
  /** Hears a step of the session's own chart. */
  step?: ((step: { from: string; to: string; event: string }) => void) | undefined;
  /** Where effects do not run in this process. */
  executor?: Executor | undefined;
}

const hosts = createOwnSlot<Host>('host');
const contexts = createOwnSlot<unknown>('context');

export const attachHost = (actor: AnyActorRef, host: Host): void => {
  hosts.put(actor, host);
};

/** Keeps what a machine without a session was given for its tools: live objects never enter a snapshot. */
export const attachContext = (actor: AnyActorRef, context: unknown): void => {
  contexts.put(actor, context);
};

const nearest = <T>(self: AnyActorRef, slot: OwnSlot<T>): T | undefined => {
  for (let actor: AnyActorRef | undefined = self; actor !== undefined; actor = actor._parent) {
    const found = slot.of(actor);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The host that an actor has itself: an agent inside a call has none. */
export const ownHostOf = (actor: AnyActorRef): Host | undefined => hosts.of(actor);

const nobody: Audience = { hasReaders: () => false, publish: () => undefined, behind: () => undefined };

/** The host of the nearest actor above that has one. */
export const hostOf = (self: AnyActorRef): Host =>
  nearest(self, hosts) ?? {
    audience: nobody,
    context: () => nearest(self, contexts),
    model: () => undefined,
    running: new Set(),
    barrier: () => undefined,
  };
