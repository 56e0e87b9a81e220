import type { ErrorData } from '../../errors.ts';
import type { Outcome } from '../../machines/turn.ts';
import type { TurnResult } from '../../machines/turn-result.ts';
import type { AgentEvent } from '../../sessions/agent-event.ts';
import { createCallParts } from './call-parts.ts';
import { createStreamedInputs } from './streamed-inputs.ts';
import { type BlockKind, createTextBlocks } from './text-blocks.ts';
import type { UIMessage, UIMessageChunk } from './ui-types.ts';
import { unstreamedParts } from './unstreamed-parts.ts';

export interface UIMessageOptions {
  /** What the page shows already, where that is known. */
  messages: readonly UIMessage[] | undefined;
  onError: (error: ErrorData) => string;
  messageMetadata: ((result: TurnResult) => unknown) | undefined;
}

/** The events of a session as the chunks of one UI message. */
export interface UIMessageWriter {
  hear(event: AgentEvent): UIMessageChunk[];
  /** The turn has rested, or waits. */
  isFinished(): boolean;
  /** How it ended, where no event told. */
  conclude(result: Pick<TurnResult, 'outcome'>): void;
  /** What ends the message: after the last event, or when there are no more. */
  end(failure?: ErrorData): UIMessageChunk[];
}

type FinishReason = Extract<UIMessageChunk, { type: 'finish' }>['finishReason'];

const finishReasonOf = (outcome: Outcome): Exclude<FinishReason, undefined> => {
  switch (outcome.type) {
    case 'answered':
      return 'stop';
    case 'pending':
    case 'tool-calls':
      return 'tool-calls';
    case 'refused':
      return 'content-filter';
    case 'failed':
      return 'error';
    case 'limit':
    case 'stopped':
      return 'other';
    default:
      return outcome satisfies never;
  }
};

const lost: ErrorData = { name: 'Error', message: 'the events ended before the turn did' };

export const createUIMessage = ({ messages, onError, messageMetadata }: UIMessageOptions): UIMessageWriter => {
  const blocks = createTextBlocks();
  const inputs = createStreamedInputs();
  const calls = createCallParts(messages);
  const shown = { replies: 0, lastText: false };
  let step: 'none' | 'asking' | 'asked' = 'none';
  /** Something of the reply under way is on the page. */
  let isDirty = false;
  let outcome: Outcome | undefined;
  let metadata: unknown;
  let lastError: ErrorData | undefined;

  const closeStep = (): UIMessageChunk[] => {
    const chunks = [...blocks.close(), ...inputs.abandon()];
    if (step !== 'none') chunks.push({ type: 'finish-step' });
    step = 'none';
    return chunks;
  };
  /** A second try of the same step takes back what the first one had shown (R41). */
  const beginStep = (): UIMessageChunk[] => {
    const wasAsking = step === 'asking';
    const chunks: UIMessageChunk[] = wasAsking ? blocks.close() : [...closeStep(), { type: 'start-step' }];
    if (wasAsking && isDirty) chunks.push({ type: 'reset-step' });
    inputs.forget();
    isDirty = false;
    shown.lastText = false;
    step = 'asking';
    return chunks;
  };
  const write = (kind: BlockKind, text: string): UIMessageChunk[] => {
    // While no reply is under way, agents inside calls speak; their words are not the answer.
    if (step !== 'asking') return [];
    if (kind === 'text' && text !== '') shown.lastText = true;
    const chunks = blocks.write(kind, text);
    isDirty ||= chunks.length > 0;
    return chunks;
  };
  const writeInput = (event: Extract<AgentEvent, { type: 'tool-input-delta' }>): UIMessageChunk[] => {
    if (step !== 'asking') return [];
    const chunks = inputs.write(event);
    if (chunks.length === 0) return [];
    isDirty = true;
    return [...blocks.close(), ...chunks];
  };
  const finish = (ended: TurnResult): UIMessageChunk[] => {
    outcome = ended.outcome;
    metadata = messageMetadata?.(ended);
    const last = blocks.close();
    return [...last, ...unstreamedParts(ended, { shown, calls, blocks }), ...closeStep()];
  };

  const hear = (event: AgentEvent): UIMessageChunk[] => {
    inputs.hear(event);
    switch (event.type) {
      case 'step-start':
        return beginStep();
      case 'step-finish':
        step = 'asked';
        shown.replies += 1;
        return blocks.close();
      case 'text-delta':
        return write('text', event.text);
      case 'reasoning-delta':
        return write('reasoning', event.text);
      case 'tool-input-delta':
        return writeInput(event);
      case 'tool-call':
        inputs.settle(event.callId);
        return calls.called(event);
      case 'approval-request':
        return calls.requested(event);
      case 'approval-response':
        return calls.answered(event);
      case 'tool-progress':
        return calls.progressed(event);
      case 'tool-result':
        return calls.ended(event);
      case 'finish':
        return finish(event.result);
      case 'error':
        if (event.callId === undefined && event.retryAt === undefined) lastError = event.error;
        return [];
      case 'usage':
      case 'message-fate':
      case 'loop-suspected':
      case 'compaction':
      case 'transition':
      case 'joined':
        return [];
      default:
        // An event of a kind that a later version knows is not an error.
        event satisfies never;
        return [];
    }
  };

  const end = (failure?: ErrorData): UIMessageChunk[] => {
    // Events may end between two turns; within one they are lost.
    const isLost = step !== 'none';
    const open = closeStep();
    if (outcome?.type === 'stopped' && failure === undefined) {
      return [...open, { type: 'abort', ...(outcome.reason === undefined ? {} : { reason: outcome.reason }) }];
    }
    const error =
      failure ??
      (outcome?.type === 'failed'
        ? outcome.error
        : outcome === undefined
          ? (lastError ?? (isLost ? lost : undefined))
          : undefined);
    const reason = error !== undefined ? 'error' : outcome === undefined ? 'other' : finishReasonOf(outcome);
    return [
      ...open,
      ...(error === undefined ? [] : [{ type: 'error' as const, errorText: onError(error) }]),
      { type: 'finish', finishReason: reason, ...(metadata === undefined ? {} : { messageMetadata: metadata }) },
    ];
  };
  return {
    hear,
    isFinished: () => outcome !== undefined,
    conclude: (ended) => {
      outcome = ended.outcome;
    },
    end,
  };
};
