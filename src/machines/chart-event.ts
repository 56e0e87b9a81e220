import type { ErrorData } from '../errors.ts';
import type { Usage } from '../messages/usage.ts';
import type { FinishReason } from '../models/chat-model.ts';
import type { CallNeeds, CallResult } from '../tools/call.ts';
import type { TurnResult } from './turn-result.ts';

/** What becomes of a message that was sent. */
export type Fate = { type: 'delivered' } | { type: 'refused'; reason: string } | { type: 'discarded'; reason: string };

/** What a chart says while it runs; hear them with `actor.on('*', …)`. */
export type ChartEvent =
  | { type: 'step-start'; iteration: number }
  | { type: 'step-finish'; iteration: number; finishReason: FinishReason; model: string }
  | { type: 'usage'; usage: Usage; total: Usage }
  | { type: 'tool-call'; callId: string; tool: string; input: unknown }
  | { type: 'tool-result'; callId: string; tool: string; result: CallResult }
  | { type: 'approval-request'; callId: string; tool: string; waiting: CallNeeds }
  | {
      type: 'approval-response';
      callId: string;
      decision: 'approved' | 'rejected' | 'answered';
      by?: string;
      reason?: string;
    }
  | { type: 'message-fate'; messageId: string; fate: Fate; turn?: number }
  /** The same calls had the same results several rounds in a row. */
  | { type: 'loop-suspected'; tools: string[]; count: number }
  /** What is sent was made shorter: `by` names the strategies, `before` and `after` count messages of the conversation. */
  | { type: 'compaction'; by: string[]; before: number; after: number }
  /** `command` where one from the store's inbox was refused. */
  | { type: 'error'; error: ErrorData; callId?: string; retryAt?: number; command?: number }
  /** The turn rests, or waits for somebody (`result.outcome.type` is `pending`); `result` is what it came to. */
  | { type: 'finish'; turn: number; result: TurnResult };
