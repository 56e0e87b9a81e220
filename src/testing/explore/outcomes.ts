import type { CheckOutcome } from '../../actors/check.ts';
import type { OutputCheck } from '../../actors/check-output.ts';
import type { ModelOutcome } from '../../actors/model.ts';
import type { StopOutcome } from '../../actors/stop-when.ts';
import type { ToolOutcome } from '../../actors/tool.ts';
import type { TurnResult } from '../../machines/turn-result.ts';
import type { Outcome } from '../../machines/turn.ts';
import type { FinishReason, ModelReply } from '../../models/chat-model.ts';
import { type CallStatus, textResult } from '../../tools/call.ts';

/** Everything that an effect may come to, by what a path calls it. */
export type Outcomes<T> = readonly (readonly [label: string, output: T])[];

const name = 'scripted';

const replied = (
  text: string,
  {
    calls = [],
    finishReason = 'stop',
    ...rest
  }: { calls?: readonly string[]; finishReason?: FinishReason; refusal?: string } = {},
): ModelOutcome => {
  const content: Exclude<ModelReply['message']['content'], string> = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map((toolName) => ({ type: 'tool-call' as const, toolCallId: '', toolName, input: {} })),
  ];
  return { type: 'reply', model: name, reply: { message: { role: 'assistant', content }, finishReason, ...rest } };
};

const failed = (transient: boolean): ModelOutcome => ({
  type: 'error',
  model: name,
  error: { name: 'ModelError', message: 'the model failed', transient },
});

/** `calls`: the tools that a reply may call, a list for each such reply. */
export const modelOutcomes = (calls: readonly (readonly string[])[]): Outcomes<ModelOutcome> => [
  ['an answer', replied('an answer')],
  ...calls.map((list): [string, ModelOutcome] => [
    `calls ${list.join(', ')}`,
    replied('', { calls: list, finishReason: 'tool-calls' }),
  ]),
  ['half a call', replied('', { calls: calls[0] ?? [], finishReason: 'length' })],
  ['nothing', replied('')],
  ['a refusal', replied('', { refusal: 'no' })],
  ['an error that passes', failed(true)],
  ['an error that stays', failed(false)],
];

const question = { inputHash: 'hash', isChecked: true };

export const checkOutcomes = (isEdited: boolean): Outcomes<CheckOutcome> => [
  ['ready', { type: 'ready', input: {}, isChecked: true, inputHash: 'hash' }],
  // Of an edit that does not fit the call says so and waits on.
  ['ask', { type: 'ask', question: isEdited ? { ...question, refusedEdit: 'it does not fit' } : question }],
  ...(isEdited ? [] : [['invalid', { type: 'settled', result: textResult('failed', 'Error: invalid') }] as const]),
];

const ended = (status: CallStatus, isRetryable = false): ToolOutcome => ({
  type: 'result',
  isRetryable,
  result: textResult(status, status),
});

const running: Outcomes<ToolOutcome> = [
  ['ok', ended('ok')],
  [
    'ok, and ends the turn',
    { type: 'result', isRetryable: false, result: { ...textResult('ok', 'ok'), endTurn: true } },
  ],
  ['failed', ended('failed', true)],
  ['timed out', ended('timed-out', true)],
  ['outcome unknown', ended('outcome-unknown')],
];
const stopping: Outcomes<ToolOutcome> = [
  ['stopped', ended('stopped')],
  ['ok', ended('ok')],
];

/** A crash that cuts it off is thought of once for each call: with every approval it could happen again. */
export const toolOutcomes = ({
  attempt,
  isStopping,
}: {
  attempt: number;
  isStopping: boolean;
}): Outcomes<ToolOutcome> => [
  ...(isStopping ? stopping : running),
  ...(attempt > 1 ? [] : [['asks, because a crash cut it off', { type: 'ask', question }] as const]),
];

export const stopOutcomes: Outcomes<StopOutcome> = [
  ['go on', { stop: false }],
  ['stop', { stop: true }],
  ['no answer', { stop: true, error: { name: 'StopWhenFailed', message: 'it failed' } }],
];

export const outputOutcomes: Outcomes<OutputCheck> = [
  ['fits', { type: 'fits', output: {} }],
  ['does not fit', { type: 'unfit', issues: ['it does not fit'] }],
];

const turnOf = (outcome: Outcome): TurnResult => ({
  outcome,
  text: 'done',
  messages: [],
  pending: [],
  usage: {},
  modelCalls: [],
  iterations: 0,
  sessionId: 'inside',
});

/** What an agent inside a call comes to. */
export const agentOutcomes: Outcomes<TurnResult> = [
  ['answered', turnOf({ type: 'answered' })],
  ['failed', turnOf({ type: 'failed', code: 'model-error', error: { name: 'Error', message: 'it failed' } })],
  ['stopped', turnOf({ type: 'stopped' })],
];
