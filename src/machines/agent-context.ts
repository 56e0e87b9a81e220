import type { ModelFailure } from '../actors/model.ts';
import { canonicalJson } from '../messages/json.ts';
import { type Message, type UserMessage, callsOf } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import type { FinishReason, ModelReply } from '../models/chat-model.ts';
import type { CallRecord, Round } from './round.ts';
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
}

/** A decision that holds for later calls of a tool (R28); `input` is canonical JSON, absent for all arguments. */
export interface Remembered {
  tool: string;
  input?: string;
  verdict: 'approve' | 'reject';
}

/** Who decided what, and when (R31). */
export interface Decision {
  callId: string;
  tool: string;
  decision: 'approved' | 'rejected' | 'answered';
  /** ms since 1970. */
  at: number;
  inputHash: string;
  reason?: string;
  by?: string;
  /** The arguments were edited. */
  edited?: boolean;
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
  remembered: Remembered[];
  decisions: Decision[];
  singleTurn: boolean;
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
  | { type: 'turn.stop'; reason?: string }
  | { type: 'turn.retry' }
  | { type: 'session.close' };

export type AgentChartEvent = OutsideEvent | CallReported | { type: 'session.woken' };

const messagesOfInput = ({ message, messages }: AgentInput): Message[] => {
  if (message === undefined) return messages?.at(-1)?.role === 'user' ? [...messages] : [];
  return [...(messages ?? []), typeof message === 'string' ? { role: 'user', content: message } : message];
};

export const initialAgent = (input: AgentInput | undefined, newId: () => string): AgentContext => {
  const first = messagesOfInput(input ?? {});
  return {
    sessionId: input?.sessionId ?? newId(),
    messages: first.length === 0 ? [...(input?.messages ?? [])] : [],
    reply: null,
    failure: null,
    round: null,
    lastRound: [],
    rounds: 0,
    inbox: first.length === 0 ? [] : [{ id: 'input', mode: 'queue', messages: first }],
    turn: noTurn,
    usage: {},
    modelCalls: [],
    remembered: [],
    decisions: [],
    singleTurn: input?.singleTurn ?? false,
  };
};

/** Puts a message into the inbox. */
export const enqueue = (
  context: AgentContext,
  event: UserMessageEvent,
  mode: Queued['mode'],
  newId: () => string,
): Partial<AgentContext> => {
  const messages =
    event.messages ?? (event.content === undefined ? [] : [{ role: 'user' as const, content: event.content }]);
  if (messages.length === 0) return {};
  const { options } = event;
  return {
    inbox: [
      ...context.inbox,
      { id: event.id ?? newId(), mode, messages, ...(options === undefined ? {} : { options }) },
    ],
  };
};

/** Remembers a decision for later calls, in place of an older one for the same tool and arguments. */
export const remember = (context: AgentContext, entry: Remembered): Remembered[] => [
  ...context.remembered.filter(({ tool, input }) => tool !== entry.tool || input !== entry.input),
  entry,
];

/** What the session remembers for a call; a decision on exactly these arguments beats one on the tool. */
export const recall = (context: AgentContext, tool: string, input: unknown): Remembered['verdict'] | undefined => {
  const ofTool = context.remembered.filter((entry) => entry.tool === tool);
  if (ofTool.length === 0) return undefined;
  const text = canonicalJson(input);
  return (ofTool.find((entry) => entry.input === text) ?? ofTool.find((entry) => entry.input === undefined))?.verdict;
};

const decisions = {
  'approval.granted': 'approved',
  'approval.rejected': 'rejected',
  'call.result': 'answered',
} as const satisfies Record<DecisionEvent['type'], Decision['decision']>;

export const decisionOf = (event: DecisionEvent): Decision['decision'] => decisions[event.type];

/** Keeps who decided what (R31), and what is to hold for later calls (R28). */
export const logDecision = (context: AgentContext, event: DecisionEvent, at: number): Partial<AgentContext> => {
  const call = context.round?.calls.find(({ callId }) => callId === event.callId);
  if (call?.waiting === undefined) return {};
  const { tool, waiting } = call;
  const entry: Decision = {
    callId: event.callId,
    tool,
    decision: decisionOf(event),
    at,
    inputHash: waiting.inputHash,
    ...(event.by === undefined ? {} : { by: event.by }),
    ...(event.type === 'approval.rejected' && event.reason !== undefined ? { reason: event.reason } : {}),
    ...(event.type === 'approval.granted' && event.input !== undefined ? { edited: true } : {}),
  };
  const log = { decisions: [...context.decisions, entry] };
  if (event.type === 'call.result' || event.remember === undefined) return log;
  const verdict = event.type === 'approval.granted' ? 'approve' : 'reject';
  if (event.remember === 'tool') return { ...log, remembered: remember(context, { tool, verdict }) };
  const asked =
    context.round === null
      ? undefined
      : callsOf(context.round.reply).find(({ toolCallId }) => toolCallId === event.callId);
  const input = canonicalJson(waiting.input ?? asked?.input);
  return { ...log, remembered: remember(context, { tool, input, verdict }) };
};
