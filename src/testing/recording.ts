import type { AnyStateMachine } from 'xstate';
import { readDocument, snapshotOf } from '../documents/document.ts';
import type { AgentContext, Decision, ModelCall } from '../machines/agent-context.ts';
import { pendingOf } from '../machines/round.ts';
import type { Outcome } from '../machines/turn.ts';
import { type AssistantMessage, type Message, type ToolOutput, callsOf, partsOf } from '../messages/message.ts';
import type { JsonValue } from '../messages/json.ts';
import { providerCallIdOf, withoutOwnOptions } from '../messages/own-options.ts';
import type { ModelReply } from '../models/chat-model.ts';
import type { CallStatus } from '../tools/call.ts';
import { alignCalls } from './align-calls.ts';

export interface RecordedResult {
  status: CallStatus;
  output: ToolOutput;
}

/** A stored session as somebody would have to play it again. */
export interface Recording {
  /** The reply whose calls are still open stands at the end. */
  messages: readonly Message[];
  /** How many messages there were before the model was asked first. */
  given: number;
  /** What the provider told of the reply at this index of `messages`. */
  callAt(index: number): ModelCall | undefined;
  /** The calls of the model that left no message, between the replies before and after this index: empty ones, and a refusal. */
  unseenAt(index: number): readonly ModelCall[];
  results: ReadonlyMap<string, RecordedResult>;
  /** On each call, in their order: an outside call may be approved, then answered. */
  decisions: ReadonlyMap<string, readonly Decision[]>;
  /** The arguments that a call ran with, or will, where a human edited them. */
  editedInput(callId: string): JsonValue | undefined;
  /** Calls that still wait for somebody. */
  pending: readonly string[];
  /** Where the messages of the last turn begin. */
  lastTurn: number;
  /** How the last turn ended; absent where it still works or waits. How earlier turns ended is not in a document. */
  outcome: Outcome | undefined;
}

const resultsOf = ({ messages, round }: AgentContext): Map<string, RecordedResult> => {
  const results = new Map<string, RecordedResult>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const { toolCallId, output, providerOptions } of message.content) {
      const status = (providerOptions?.['agentchart']?.['status'] ?? 'ok') as CallStatus;
      results.set(toolCallId, { status, output });
    }
  }
  for (const { callId, result } of round?.calls ?? []) if (result !== undefined) results.set(callId, result);
  return results;
};

/** Edits stand in the history; of a call that is still open its actor has them. */
const inputsOf = ({ context, children }: ReturnType<typeof snapshotOf>): Map<string, JsonValue> => {
  const inputs = new Map<string, JsonValue>();
  for (const message of context.messages)
    for (const part of partsOf(message))
      if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input as JsonValue);
  for (const { callId, result } of context.round?.calls ?? []) {
    const call = (children as Record<string, { snapshot?: { context?: { edited?: JsonValue } } }>)[callId];
    const edited = result?.edited ?? call?.snapshot?.context?.edited;
    if (edited !== undefined) inputs.set(callId, edited);
  }
  return inputs;
};

export const recordingOf = (machine: AnyStateMachine, document: unknown): Recording => {
  const snapshot = snapshotOf(machine, readDocument(document));
  const { context } = snapshot;
  const inputs = inputsOf(snapshot);
  const { round, decisions, turn } = context;
  const isReply = ({ purpose }: ModelCall): boolean => purpose === undefined;
  const modelCalls = context.modelCalls.filter(isReply);
  const messages = round === null ? context.messages : [...context.messages, round.reply];
  const { firstMessage } = turn;
  const firstModelCall = context.modelCalls.slice(0, turn.firstModelCall).filter(isReply).length;
  // Of the last turn it is known where it begins.
  const calls = new Map([
    ...alignCalls(messages.slice(0, firstMessage), modelCalls.slice(0, firstModelCall)),
    ...[...alignCalls(messages.slice(firstMessage), modelCalls.slice(firstModelCall))].map(
      ([index, call]): [number, ModelCall] => [index + firstMessage, call],
    ),
  ]);
  const first = [...calls.keys()][0];
  return {
    messages,
    given: first ?? messages.length,
    callAt: (index) => calls.get(index),
    unseenAt: (index) => {
      const before = [...calls].findLast(([at]) => at < index)?.[1];
      const after = [...calls].find(([at]) => at > index)?.[1];
      const end = after === undefined ? modelCalls.length : modelCalls.indexOf(after);
      const begin = before === undefined ? 0 : modelCalls.indexOf(before) + 1;
      return index > firstMessage
        ? modelCalls.slice(Math.max(begin, firstModelCall), end)
        : modelCalls.slice(begin, Math.min(end, firstModelCall));
    },
    results: resultsOf(context),
    decisions: Map.groupBy(decisions, ({ callId }) => callId),
    editedInput: (callId) => inputs.get(callId),
    pending: pendingOf(context).map(({ callId }) => callId),
    lastTurn: firstMessage,
    outcome: turn.outcome,
  };
};

/** A message of a session as the model gave it: with the provider's ids, and the arguments that a human may have edited. */
export const replyOf = (message: AssistantMessage, call: ModelCall | undefined): ModelReply => {
  const ids = new Map<string, string>();
  const content =
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part) => {
          if (part.type === 'tool-call') {
            const id = providerCallIdOf(part) ?? '';
            ids.set(part.toolCallId, id);
            const { originalInput = part.input } = (part.providerOptions?.['agentchart'] ?? {}) as {
              originalInput?: unknown;
            };
            return { ...withoutOwnOptions(part), toolCallId: id, input: originalInput };
          }
          if (part.type === 'tool-result') return { ...part, toolCallId: ids.get(part.toolCallId) ?? '' };
          return part;
        });
  return {
    message: { ...message, content },
    finishReason: call?.finishReason ?? (callsOf(message).length > 0 ? 'tool-calls' : 'stop'),
    ...(call?.usage === undefined ? {} : { usage: call.usage }),
    ...(call === undefined ? {} : { model: call.model }),
  };
};
