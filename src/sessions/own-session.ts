import { type AnyActorRef } from 'xstate';
import type { Executor } from '../actors/executor.ts';
import type { AgentMachine } from '../machines/agent.ts';
import type { AgentInput } from '../machines/agent-context.ts';
import type { Turn, TurnOptions } from '../machines/turn.ts';
import type { ToolChange } from '../tools/call.ts';
import type { Fate } from '../machines/chart-event.ts';
import { type TurnResult } from '../machines/turn-result.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { AgentEvent } from './agent-event.ts';
import type { Authorize } from './agent-options.ts';
import { type SessionDocument } from '../documents/document.ts';
import { type EventReader, type ReadOptions } from './event-feed.ts';
import { type LiveObjects } from './live-objects.ts';
import type { MayLack } from './check-tools.ts';
import type { CommittedSource } from './next-commit.ts';
import type { Inspector, RunResult, Session } from './session.ts';
import type { SessionHome } from '../stores/store.ts';
import { type Posted } from './turn-waiters.ts';

export interface SessionSource {
  machine: AgentMachine;
  agent: string;
  store: SessionHome;
  /** ms since 1970. */
  now(): number;
  input?: AgentInput;
  document?: SessionDocument;
  /** The document comes from the store, whose messages are taken as they are. */
  isStored?: boolean;
  /** Default: calls that wait for somebody. */
  mayLack?: MayLack;
  /** What the store has of the session; looked up before the first commit where that is not known yet. */
  committed?: CommittedSource;
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
  /** Something of its turns is kept beside the actor, which must stay. */
  staysAwake?: boolean;
  /** Where the session's effects do not run in this process. */
  executor?: Executor;
}

export type ParseOutput = (raw: JsonValue) => unknown;

/** A session with what only this package does with it. */
export interface OwnSession extends Session {
  read(options?: ReadOptions): EventReader;
  /** A message's fate for whoever sent it: told when it is stored, and the session lives until then. */
  storedFate(fate: Promise<Fate>): Promise<Fate>;
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
  /** The turn under way, or the last one. */
  readonly turn: Turn;
  setContext(context: unknown): void;
  post(
    messages: Message[],
    options: LiveObjects & { mode: 'queue' | 'steer'; turn?: TurnOptions | undefined; id?: string },
  ): Posted & { withdraw(reason: string): void };
  /** A failed turn is thrown, every other one is given, with its structured answer parsed. */
  finish(result: TurnResult): Promise<RunResult>;
}
