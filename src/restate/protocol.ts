import type { ErrorData } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import type { Message } from '../messages/message.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import type { DecisionGiven } from '../sessions/check-decision.ts';
import type { SessionStatus, SessionSummary } from '../stores/store.ts';
import type { PendingCall } from '../tools/call.ts';

/** What a session is told from outside. */
export type Command =
  | { type: 'send'; messages: readonly Message[]; mode: 'queue' | 'steer' }
  | { type: 'decide'; decision: DecisionEvent['type']; callId: string; given: DecisionGiven; output?: unknown }
  | { type: 'cancel'; callId: string }
  | { type: 'stop'; reason?: string }
  | { type: 'retry' };

/** A command as it is sent: the same `id` again is the same command, also after a year. */
export interface Told {
  sessionId: string;
  id: string;
  command: Command;
}

/** What came of a command at once. A message's fate is there when its turn has begun, or never will. */
export interface Answer {
  error?: ErrorData;
  fate?: Fate;
  /** Of a stop: which end of a turn it leads to, counted from 1; absent where there was nothing to stop. */
  end?: number;
}

/** Where an effect came to an end. `at`: it was an alarm, for that time in ms since 1970. */
export interface Settled {
  path: string[];
  id: string;
  output?: unknown;
  at?: number;
  /** How often no version of the agent was there that can take the session up. */
  tries?: number;
}

/** How a session stands. */
export interface View {
  summary: SessionSummary;
  pending: PendingCall[];
  /** Calls whose edited arguments are being checked. */
  checking: string[];
}

/** What somebody waits for: a rest of the session, a commit after that one, that end of a turn, the fate of a message, or the check of an edit. */
export type Wait =
  | { for: 'rest' }
  | { for: 'news'; revision: number }
  | { for: 'end'; end: number }
  | { for: 'fate'; id: string }
  | { for: 'check'; callId: string };

/** What came of a wait. */
export interface Found {
  view: View | null;
  result?: TurnResult;
  fate?: Fate;
  /** It does not come: no version of the agent is served that can take the session up. */
  error?: ErrorData;
}

/** The part of a session that somebody already has: the number of its last commit, and how many messages. */
export interface Since {
  revision: number;
  messages: number;
}

/** What a session has beyond that. */
export interface Reading {
  /** Tells this session from one that had its id before. */
  birth: string;
  /** Of the last commit. */
  commitId: string;
  summary: SessionSummary;
  /** The changes since, or the whole state and the changes after it. */
  states: string[];
  isWhole: boolean;
  messages: string[];
}

/** What a reader is told who joins now. */
export interface Joined {
  revision: number;
  asking: string | null;
  isResting: boolean;
  events: AgentEvent[];
}

/** Instead of what was asked for. */
export interface Refused {
  error: ErrorData;
}

export const nothingYet: Since = { revision: 0, messages: 0 };

/** No turn is under way. */
export const isAtEnd = (status: SessionStatus): boolean => status === 'idle' || status === 'settled';

/** A session at rest. */
export const isResting = (status: SessionStatus): boolean => status !== 'busy';
