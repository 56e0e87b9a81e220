import { toolOutputOf } from '../messages/check-output.ts';
import { checkMessages } from '../messages/check-message.ts';
import { usageKinds } from '../messages/usage.ts';
import {
  type Shape,
  all,
  anything,
  byType,
  count,
  finite,
  flag,
  listOf,
  nullable,
  objectOf,
  oneOf,
  optional,
  recordOf,
  takenBy,
  text,
  time,
  whole,
} from './shape.ts';

// The stored forms of what a session knows, as its types say them.

const optionalOf = (names: readonly string[], shape: Shape): Record<string, Shape> =>
  Object.fromEntries(names.map((name) => [name, optional(shape)]));

const usage = objectOf(optionalOf(usageKinds, count));

/** Causes are nested at most five levels deep. */
const errorData: Shape = objectOf({
  name: text,
  message: text,
  code: optional(text),
  status: optional(finite),
  cause: optional((value, path) => errorData(value, path)),
});

export const messages: Shape = (value, path) => {
  if (!Array.isArray(value)) return listOf(anything)(value, path);
  const found = value.length === 0 ? undefined : takenBy(checkMessages)(value, path);
  return found === undefined ? undefined : found.replace(/^messages/, path);
};

export const reply: Shape = (value, path) => {
  const found = messages([value], path);
  return found ?? objectOf({ role: oneOf('assistant') })(value, path);
};

const modelReply = objectOf({
  message: reply,
  finishReason: text,
  refusal: optional(text),
  usage: optional(usage),
  model: optional(text),
});

const failure = all(errorData, objectOf({ transient: flag, retryAfter: optional(count), overflow: optional(flag) }));

const toolChanges = listOf(objectOf({ name: text, toolKey: optional(text) }));

export const callResult = objectOf({
  status: oneOf('ok', 'failed', 'rejected', 'cancelled', 'stopped', 'timed-out', 'outcome-unknown'),
  output: takenBy(toolOutputOf),
  error: optional(errorData),
  endTurn: optional(flag),
  toolChanges: optional(toolChanges),
  usage: optional(usage),
  by: optional(text),
});

const needs = {
  needs: oneOf('approval', 'result'),
  inputHash: text,
  reason: optional(text),
  expiresAt: optional(time),
  refusedEdit: optional(text),
};
const callNeeds = objectOf(needs);

const nested = objectOf({
  pending: listOf(objectOf({ callId: text, path: listOf(text), tool: text, ...needs })),
  checking: listOf(text),
  isWaiting: flag,
});

const phase = oneOf(
  'validating',
  'awaiting-decision',
  'queued',
  'running',
  'awaiting-result',
  'awaiting-agent',
  'settled',
);

const callRecord = objectOf({
  callId: text,
  tool: text,
  toolKey: optional(text),
  phase,
  waiting: optional(callNeeds),
  nested: optional(nested),
  result: optional(callResult),
});

const notes = objectOf({
  toolChanges: optional(toolChanges),
  messages: optional(messages),
  compaction: optional(
    objectOf({
      by: listOf(text),
      before: whole,
      after: whole,
      errors: listOf(errorData),
      calls: listOf(objectOf({ model: text, usage: optional(usage) })),
    }),
  ),
});

const limit = oneOf('maxIterations', 'maxTokens', 'maxToolCalls', 'deadline', 'stopWhen', 'loopDetection');

const toolChoice: Shape = (value, path) =>
  typeof value === 'string' ? oneOf('auto', 'required', 'none')(value, path) : objectOf({ tool: text })(value, path);

const turnOptions = objectOf({
  limits: optional(
    objectOf({
      ...optionalOf(['maxIterations', 'maxConsecutiveErrors', 'maxTokens', 'maxToolCalls', 'deadline'], count),
      onLimit: optional(oneOf('finalize', 'pause', 'fail')),
    }),
  ),
  toolChoice: optional(toolChoice),
  settings: optional(objectOf({})),
  metadata: optional(recordOf(text)),
});

const outcome = byType({
  answered: { callId: optional(text) },
  'tool-calls': {},
  limit: { limit, callId: optional(text) },
  refused: { reason: text },
  stopped: { reason: optional(text) },
  failed: {
    code: text,
    error: errorData,
    errors: optional(listOf(all(errorData, objectOf({ callId: text, tool: text })))),
  },
});

const turn = objectOf({
  number: whole,
  firstMessage: whole,
  firstModelCall: whole,
  iterations: count,
  granted: count,
  tokensGranted: count,
  consecutiveErrors: count,
  toolCalls: count,
  usage,
  toolChanges,
  repeats: objectOf({ key: text, count }),
  work: objectOf({ ms: count, since: optional(time) }),
  options: turnOptions,
  request: objectOf({
    attempt: count,
    model: whole,
    emptyReplies: count,
    retryAt: optional(time),
    error: optional(errorData),
  }),
  finalizing: optional(limit),
  stopping: optional(objectOf({ reason: optional(text), limit: optional(limit) })),
  outcome: optional(outcome),
  keepsContext: optional(flag),
  untold: optional(flag),
});

/** Without its messages: nothing else is as long. */
export const agentContext = objectOf({
  sessionId: text,
  reply: nullable(modelReply),
  failure: nullable(failure),
  round: nullable(objectOf({ reply, calls: listOf(callRecord) })),
  lastRound: listOf(callRecord),
  rounds: whole,
  inbox: listOf(objectOf({ id: text, mode: oneOf('queue', 'steer'), messages, options: optional(turnOptions) })),
  turn,
  usage,
  modelCalls: listOf(
    objectOf({ turn: whole, model: text, finishReason: text, usage: optional(usage), purpose: optional(text) }),
  ),
  decisions: listOf(
    objectOf({
      callId: text,
      tool: text,
      decision: oneOf('approved', 'rejected', 'answered'),
      at: time,
      inputHash: text,
      reason: optional(text),
      by: optional(text),
      edited: optional(flag),
      digest: optional(text),
      remembered: optional(oneOf('tool', 'input')),
      editHash: optional(text),
    }),
  ),
  singleTurn: flag,
  callPrefix: text,
  elsewhere: optional(objectOf({ before: whole, handed: whole })),
});

const callSpec = objectOf({
  callId: text,
  tool: text,
  toolKey: optional(text),
  index: whole,
  count: whole,
  iteration: count,
});

export const callContext = objectOf({
  call: callSpec,
  sessionId: text,
  phase,
  isChecked: flag,
  inputHash: text,
  isDecided: flag,
  mayStart: flag,
  attempt: count,
  retryAt: optional(time),
  waiting: optional(callNeeds),
  nested: optional(nested),
  stopping: optional(objectOf({ reason: optional(text) })),
  result: optional(callResult),
});

const question = objectOf({
  inputHash: text,
  isChecked: flag,
  reason: optional(text),
  refusedEdit: optional(text),
});

/** What the effects of the charts had come to where nobody had taken it yet. */
const outcomes: Readonly<Record<string, Shape>> = {
  alarm: objectOf({ at: nullable(time) }),
  model: byType({
    reply: { reply: modelReply, model: text, notes: optional(notes) },
    error: { error: failure, model: text, notes: optional(notes) },
  }),
  checkOutput: byType({ fits: {}, unfit: { issues: listOf(text) } }),
  stopWhen: objectOf({ stop: flag, error: optional(errorData) }),
  check: byType({ settled: { result: callResult }, ask: { question }, ready: { isChecked: flag, inputHash: text } }),
  tool: byType({ result: { result: callResult, isRetryable: flag }, ask: { question } }),
};

/** Of an effect of a kind that is not ours nothing is known. */
export const outcomeOf = (src: string): Shape =>
  Object.hasOwn(outcomes, src) ? optional(outcomes[src] ?? anything) : anything;
