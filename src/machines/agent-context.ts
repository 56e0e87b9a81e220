import { AgentError } from '../errors.ts';
import type { AlarmOutput } from '../actors/alarm.ts';
import type { ModelFailure } from '../actors/model.ts';
import type { Told } from '../actors/wake.ts';
import { checkMessages } from '../messages/check-message.ts';
import { repairHistory } from '../messages/history.ts';
import { type JsonValue, canonicalJson } from '../messages/json.ts';
import { type Message, type UserMessage } from '../messages/message.ts';
import { isEmptyMessage } from '../messages/own-options.ts';
import type { Usage } from '../messages/usage.ts';
import type { FinishReason, ModelReply } from '../models/chat-model.ts';
import { inputHash } from '../tools/input-hash.ts';
import { digest } from './digest.ts';
import { isWellFormed } from './outside-event.ts';
import { isOwnEvent } from './own-event.ts';
import { type CallRecord, type Round, pendingOf } from './round.ts';
import type { CallReported, DecisionEvent } from './tool-call-context.ts';
import { type Turn, type TurnOptions, noTurn } from './turn.ts';

/** What an agent starts with. All of it is optional: without a message it waits for one. */
export interface AgentInput {
  message?: string | Message;
  /** The conversation so far. Without `message`, one that ends with a user's message is answered. */
  messages?: readonly Message[];
  sessionId?: string;
  /** Close after the first turn, so that a parent machine gets the result by `onDone`. */
  singleTurn?: boolean;
  /** For the tools of this turn; may hold live objects, is never stored. */
  context?: unknown;
  /** The call inside which this agent works; it hears what the agent waits for. */
  insideCall?: string;
}

/** A message that waits to be read. */
export interface Queued {
  id: string;
  mode: 'queue' | 'steer';
  messages: Message[];
  options?: TurnOptions;
}

/** One model call, for whoever counts tokens. */
export interface ModelCall {
  turn: number;
  model: string;
  finishReason: FinishReason;
  usage?: Usage;
  /** Absent for those that ask for the next reply. */
  purpose?: 'compaction';
}

/** Who decided what, and when (R31). What was said with it is in the history: it is not kept a second time. */
export interface Decision {
  callId: string;
  tool: string;
  decision: 'approved' | 'rejected' | 'answered';
  /** ms since 1970. */
  at: number;
  inputHash: string;
  by?: string;
  /** The arguments were edited. */
  edited?: boolean;
  /** Of the edited arguments, or of the answer: tells whether a decision that comes again is the same. */
  digest?: string;
  /** Of a call inside an agent, whose history goes when it is done: the edited arguments, the answer, the reason of a rejection. */
  input?: JsonValue;
  output?: JsonValue;
  reason?: string;
  /**
   * It holds for later calls (R28): of the tool, or of the tool with exactly the arguments that were decided on. Of a call inside an agent
   * it holds there alone.
   */
  remembered?: 'tool' | 'input';
  /** SHA-256 of the edited arguments, where they hold for later calls: `inputHash` is of those that they took the place of. */
  editHash?: string;
}

/** All that a session knows: plain JSON. `messages` is at every moment a history that a provider accepts (R6). */
export interface AgentContext {
  sessionId: string;
  messages: Message[];
  /** What the model just said, or how it failed, while the chart decides; null in every state that rests or waits. */
  reply: ModelReply | null;
  failure: ModelFailure | null;
  /** The reply whose calls are not all settled yet; it enters `messages` together with its results. */
  round: Round | null;
  /** The calls of the round that closed last, with their results; empty once the chart has moved on. */
  lastRound: CallRecord[];
  /** Rounds of the session so far: the source of call ids. */
  rounds: number;
  inbox: Queued[];
  turn: Turn;
  usage: Usage;
  modelCalls: ModelCall[];
  decisions: Decision[];
  singleTurn: boolean;
  /** Before the ids of this session's calls; '' but for an agent inside a call. */
  callPrefix: string;
  /** What a compaction keeps of its work. */
  compaction?: JsonValue;
  /** With a history provider: how many messages it alone has, and how many of `messages` it has as well. */
  elsewhere?: Elsewhere;
}

export interface Elsewhere {
  before: number;
  handed: number;
}

export interface UserMessageEvent {
  type: 'user.message';
  content?: UserMessage['content'];
  mode?: 'queue' | 'steer';
  /** Names the message in `message-fate`. */
  id?: string;
  /** Several messages, or other roles, in place of `content`. */
  messages?: Message[];
  options?: TurnOptions;
}

/** What an agent takes from outside. */
export type OutsideEvent =
  | UserMessageEvent
  | DecisionEvent
  | { type: 'call.cancel'; callId: string }
  /** Takes a message back that was not read yet. */
  | { type: 'message.withdraw'; id: string; reason?: string }
  | { type: 'turn.stop'; reason?: string }
  | { type: 'turn.retry' }
  | { type: 'session.close' };

export type AgentChartEvent =
  | OutsideEvent
  | CallReported
  | { type: 'session.woken' }
  | ({ type: 'turn.told' } & Told)
  | { type: 'xstate.done.actor.deadline'; output: AlarmOutput };

const messagesOfInput = ({ message, messages }: Pick<AgentInput, 'message' | 'messages'>): Message[] => {
  if (message === undefined) return messages?.at(-1)?.role === 'user' ? [...messages] : [];
  return [...(messages ?? []), ...checkMessages(message)];
};

/** Throws `invalid-message` for what is no message: the actor is in status `error` from the beginning, and `start` tells. */
export const initialAgent = (input: AgentInput | undefined, newId: () => string): AgentContext => {
  if (input?.sessionId !== undefined && typeof input.sessionId !== 'string')
    throw new AgentError('invalid-option', `input.sessionId must be a string, got ${typeof input.sessionId}`);
  const given = input?.messages;
  const messages = given === undefined || given.length === 0 ? [] : checkMessages(given);
  const first = messagesOfInput({ ...input, messages });
  return {
    sessionId: input?.sessionId ?? newId(),
    messages: first.length === 0 ? repairHistory(messages) : [],
    reply: null,
    failure: null,
    round: null,
    lastRound: [],
    rounds: 0,
    inbox: first.length === 0 ? [] : [{ id: 'input', mode: 'queue', messages: first }],
    turn: noTurn,
    usage: {},
    modelCalls: [],
    decisions: [],
    singleTurn: input?.singleTurn ?? false,
    callPrefix: input?.insideCall === undefined ? '' : `${input.insideCall}-`,
  };
};

/** What a message event says; an empty one says nothing, nor one that is no message. */
export const messagesOfEvent = (event: UserMessageEvent): Message[] => {
  const { content, messages } = event;
  if (isOwnEvent(event)) return (messages ?? []).filter((each) => !isEmptyMessage(each));
  const given = messages ?? (content === undefined ? [] : [{ role: 'user', content }]);
  try {
    if (!isWellFormed(event)) return [];
    const said = given.filter((each) => !isEmptyMessage(each));
    return said.length === 0 ? [] : checkMessages(said);
  } catch {
    // What is no message says nothing either.
    return [];
  }
};

/** Puts a message into the inbox. */
export const enqueue = (
  context: AgentContext,
  event: UserMessageEvent,
  mode: Queued['mode'],
  newId: () => string,
): Partial<AgentContext> => {
  const messages = messagesOfEvent(event);
  if (messages.length === 0) return {};
  const { options } = event;
  return {
    inbox: [
      ...context.inbox,
      { id: event.id ?? newId(), mode, messages, ...(options === undefined ? {} : { options }) },
    ],
  };
};

const decisions = {
  'approval.granted': 'approved',
  'approval.rejected': 'rejected',
  'call.result': 'answered',
} as const satisfies Record<DecisionEvent['type'], Decision['decision']>;

export const decisionOf = (event: DecisionEvent): Decision['decision'] => decisions[event.type];

const saidWith = (event: DecisionEvent, isInside: boolean): Partial<Decision> => {
  switch (event.type) {
    case 'approval.granted': {
      const { input } = event;
      if (input === undefined) return {};
      return { edited: true, digest: digest(canonicalJson(input)), ...(isInside ? { input } : {}) };
    }
    case 'approval.rejected':
      return isInside && event.reason !== undefined ? { reason: event.reason } : {};
    case 'call.result':
      return { digest: digest(canonicalJson(event.output)), ...(isInside ? { output: event.output } : {}) };
    default:
      return event satisfies never;
  }
};

/** What is to hold for later calls (R28). */
const rememberedOf = (event: DecisionEvent): Partial<Decision> => {
  if (event.type === 'call.result' || event.remember === undefined) return {};
  const { remember: remembered } = event;
  if (event.type === 'approval.rejected' || event.input === undefined || remembered === 'tool') return { remembered };
  return { remembered, editHash: inputHash(event.input) };
};

/** Keeps who decided what (R31). */
export const logDecision = (context: AgentContext, event: DecisionEvent, at: number): Partial<AgentContext> => {
  const call = pendingOf(context).find(({ callId }) => callId === event.callId);
  if (call === undefined) return {};
  const isInside = call.path.length > 0;
  const entry: Decision = {
    callId: event.callId,
    tool: call.tool,
    decision: decisionOf(event),
    at,
    inputHash: call.inputHash,
    ...(event.by === undefined ? {} : { by: event.by }),
    ...saidWith(event, isInside),
    ...rememberedOf(event),
  };
  return { decisions: [...context.decisions, entry] };
};

/** Takes back the last decision on a call, with what it made the session remember. */
export const withdrawDecision = (context: AgentContext, callId: string): Partial<AgentContext> => {
  const at = context.decisions.findLastIndex((each) => each.callId === callId);
  return at === -1 ? {} : { decisions: context.decisions.toSpliced(at, 1) };
};

/** What the last decision on a call made the session remember holds for nothing: its edit was never checked. */
export const forgetUnchecked = (context: AgentContext, callId: string): Partial<AgentContext> => {
  const at = context.decisions.findLastIndex((each) => each.callId === callId);
  const decision = context.decisions[at];
  if (decision?.remembered === undefined) return {};
  const { remembered: _, editHash: _hash, ...kept } = decision;
  return { decisions: context.decisions.with(at, kept) };
};
