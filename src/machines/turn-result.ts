import { type JsonValue, copyJson } from '../messages/json.ts';
import { type Message, type ToolOutput, textOf } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import type { AgentContext, ModelCall } from './agent-context.ts';
import type { PendingCall } from '../tools/call.ts';
import { pendingOf } from './round.ts';
import type { Outcome } from './turn.ts';

/** What a turn came to, so far or in the end. */
export interface TurnResult {
  outcome: Outcome;
  /** The answer's text; '' if there is none. */
  text: string;
  /** The structured answer as the model gave it, plain JSON. */
  output?: JsonValue;
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
  if (outcome.callId !== undefined) {
    const direct = last?.role === 'tool' ? last.content.find((part) => part.toolCallId === outcome.callId) : undefined;
    return direct === undefined ? '' : textOfOutput(direct.output);
  }
  if (last?.role === 'assistant') return textOf(last);
  // At a limit the last reply may still have held calls; its text is the answer all the same.
  const reply = messages.at(-2);
  return finalizing !== undefined && reply?.role === 'assistant' ? textOf(reply) : '';
};

export const resultOf = (context: AgentContext): TurnResult => {
  const { turn, messages, round, sessionId, modelCalls } = context;
  const added = messages.slice(turn.firstMessage);
  const outcome = turn.outcome ?? { type: 'pending' as const };
  // With no spread in the midst: each of these has the same shape as all, and who reads one in a loop has code that stays fast.
  const result: TurnResult = {
    outcome,
    text: answerOf(context),
    messages: outcome.type === 'tool-calls' && round !== null ? [...added, round.reply] : added,
    pending: copyJson(pendingOf(context)),
    usage: turn.usage,
    modelCalls: modelCalls.slice(turn.firstModelCall),
    iterations: turn.iterations,
    sessionId,
  };
  return turn.output === undefined ? result : { ...result, output: turn.output };
};
