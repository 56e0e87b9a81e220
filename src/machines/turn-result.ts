import type { JsonValue } from '../messages/json.ts';
import { type Message, type ToolOutput, callsOf, textOf } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import type { AgentContext, ModelCall } from './agent-context.ts';
import { isWaiting } from './round.ts';
import type { Outcome } from './turn.ts';

/** A call that waits for somebody outside. */
export interface PendingCall {
  callId: string;
  /** The calls above it, where an agent is a tool of an agent; empty at the root. */
  path: string[];
  tool: string;
  /** Exactly what will run when it is approved. */
  input: unknown;
  needs: 'approval' | 'result';
  /** Of `input`; a decision that carries it is refused when the arguments are others. */
  inputHash: string;
  reason?: string;
  /** ms since 1970. */
  expiresAt?: number;
  /** Why the last edit was not taken. */
  refusedEdit?: string;
}

/** What a turn came to, so far or in the end. */
export interface TurnResult {
  outcome: Outcome;
  /** The answer's text; '' if there is none. */
  text: string;
  /** What this turn added to the session, in order, its user message first. */
  messages: Message[];
  pending: PendingCall[];
  /** Of this turn. */
  usage: Usage;
  modelCalls: ModelCall[];
  /** Rounds of this turn. */
  iterations: number;
  sessionId: string;
}

const textOfOutput = (output: ToolOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value satisfies JsonValue);
    case 'execution-denied':
      return output.reason ?? '';
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : '')).join('');
    default:
      return output satisfies never;
  }
};

const answerOf = ({ turn: { outcome, finalizing }, messages, round }: AgentContext): string => {
  if (outcome?.type === 'tool-calls') return round === null ? '' : textOf(round.reply);
  if (outcome?.type !== 'answered' && outcome?.type !== 'limit') return '';
  const last = messages.at(-1);
  if (outcome.type === 'answered' && outcome.callId !== undefined) {
    const direct = last?.role === 'tool' ? last.content.find((part) => part.toolCallId === outcome.callId) : undefined;
    return direct === undefined ? '' : textOfOutput(direct.output);
  }
  if (last?.role === 'assistant') return textOf(last);
  // At a limit the last reply may still have held calls; its text is the answer all the same.
  const reply = messages.at(-2);
  return finalizing !== undefined && reply?.role === 'assistant' ? textOf(reply) : '';
};

export const pendingOf = ({ round }: Pick<AgentContext, 'round'>): PendingCall[] => {
  if (round === null) return [];
  const asked = new Map(callsOf(round.reply).map((part) => [part.toolCallId, part.input]));
  return round.calls
    .filter(isWaiting)
    .flatMap(({ callId, tool, waiting }) =>
      waiting === undefined ? [] : [{ callId, path: [], tool, ...waiting, input: waiting.input ?? asked.get(callId) }],
    );
};

export const resultOf = (context: AgentContext): TurnResult => {
  const { turn, messages, round, sessionId, modelCalls } = context;
  const added = messages.slice(turn.firstMessage);
  const outcome = turn.outcome ?? { type: 'pending' as const };
  return {
    outcome,
    text: answerOf(context),
    messages: outcome.type === 'tool-calls' && round !== null ? [...added, round.reply] : added,
    pending: pendingOf(context),
    usage: turn.usage,
    modelCalls: modelCalls.slice(turn.firstModelCall),
    iterations: turn.iterations,
    sessionId,
  };
};
