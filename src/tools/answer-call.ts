import { AgentError } from '../errors.ts';
import type { Message, ToolCallPart, ToolOutput, ToolResultPart } from '../messages/message.ts';
import { leftBehind, notStarted } from './call.ts';
import { isAsyncIterable, lastOf } from './last-value.ts';
import type { Tool, ToolContext } from './tool.ts';
import { failureOutput } from './failure-output.ts';
import { toToolOutput } from './tool-output.ts';
import { invalidInputOutput, unknownToolOutput } from './unrunnable.ts';

export interface AnswerCallOptions {
  tools: readonly Tool[];
  /**
   * The session of the call. With it the tool finds the `idempotencyKey` that the loop would give, the same whenever this call is answered;
   * without it one of its own each time, since ids of calls are the same in every session.
   */
  sessionId?: string;
  /** What the tool finds under these names in its second argument. */
  messages?: readonly Message[];
  context?: unknown;
  /** Where it aborts, the result says so: that the tool was not run, or what it has done by then is unknown. Nobody waits for it any more. */
  signal?: AbortSignal;
  /** The model reads what a tool threw. Default false. */
  detailedErrors?: boolean;
}

const nothing = (): void => undefined;

const freshKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

const contextOf = ({ toolCallId }: ToolCallPart, options: AnswerCallOptions, signal: AbortSignal): ToolContext => ({
  callId: toolCallId,
  sessionId: options.sessionId ?? '',
  idempotencyKey: `${options.sessionId ?? freshKey()}:${toolCallId}`,
  attempt: 1,
  iteration: 1,
  callIndex: 0,
  callCount: 1,
  messages: options.messages ?? [],
  context: options.context,
  metadata: {},
  signal,
  progress: nothing,
  endTurn: nothing,
  tools: { add: nothing, remove: nothing, clear: nothing },
});

/** What the tool gives, or that it was left. A tool that hears of the abort has no say any more. */
const unlessAborted = async (work: () => Promise<ToolOutput>, signal: AbortSignal): Promise<ToolOutput> => {
  if (signal.aborted) return notStarted.output;
  const left = Promise.withResolvers<ToolOutput>();
  const leave = (): void => left.resolve(leftBehind('stopped').output);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([left.promise, work()]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
};

const outputOf = async (call: ToolCallPart, options: AnswerCallOptions): Promise<ToolOutput> => {
  const { tools, signal = new AbortController().signal, detailedErrors: detailed = false } = options;
  if (!Array.isArray(tools as unknown)) {
    throw new AgentError('invalid-option', 'answerCall: option "tools" must be an array of tools');
  }
  const tool = tools.find(({ name }) => name === call.toolName);
  if (tool === undefined)
    return unknownToolOutput(
      call.toolName,
      tools.map(({ name }) => name),
    );
  if (tool.execute === undefined || tool.agent !== undefined) {
    throw new AgentError('invalid-tool', `the tool "${tool.name}" does not run here: give its result yourself`);
  }
  const check = await tool.checkInput(call.input);
  if (!check.ok) return invalidInputOutput(tool.name, check.issues);
  const { execute } = tool;
  const run = async (): Promise<ToolOutput> => {
    try {
      const given = await execute(check.value, contextOf(call, options, signal));
      const { output, error } = toToolOutput(
        isAsyncIterable(given) ? await lastOf(given, nothing, signal) : given,
        tool,
      );
      return output ?? failureOutput(error, { detailed });
    } catch (error) {
      return failureOutput(error, { detailed });
    }
  };
  return unlessAborted(run, signal);
};

/**
 * Runs the tool of one call and words its result as the loop would: for manual mode. An unknown tool, arguments that do not fit and what a tool
 * throws are results that tell the model so. Nobody is asked (`needsApproval`), nothing is tried again or timed out, and `progress`, `endTurn` and
 * `tools` do nothing. Rejects with `invalid-tool` for a tool without `execute` and for an agent.
 */
export const answerCall = async (call: ToolCallPart, options: AnswerCallOptions): Promise<ToolResultPart> => ({
  type: 'tool-result',
  toolCallId: call.toolCallId,
  toolName: call.toolName,
  output: await outputOf(call, options),
});
