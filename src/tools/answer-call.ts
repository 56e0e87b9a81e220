import { AgentError } from '../errors.ts';
import type { Message, ToolCallPart, ToolOutput, ToolResultPart } from '../messages/message.ts';
import { isAsyncIterable, lastOf } from './last-value.ts';
import type { Tool, ToolContext } from './tool.ts';
import { failureOutput } from './failure-output.ts';
import { toToolOutput } from './tool-output.ts';
import { invalidInputOutput, unknownToolOutput } from './unrunnable.ts';

export interface AnswerCallOptions {
  tools: readonly Tool[];
  /** What the tool finds under these names in its second argument. */
  messages?: readonly Message[];
  context?: unknown;
  signal?: AbortSignal;
  /** The model reads what a tool threw. Default false. */
  detailedErrors?: boolean;
}

const nothing = (): void => undefined;

const contextOf = (
  { toolCallId }: ToolCallPart,
  { messages = [], context, signal = new AbortController().signal }: AnswerCallOptions,
): ToolContext => ({
  callId: toolCallId,
  sessionId: '',
  idempotencyKey: toolCallId,
  attempt: 1,
  iteration: 1,
  callIndex: 0,
  callCount: 1,
  messages,
  context,
  metadata: {},
  signal,
  progress: nothing,
  endTurn: nothing,
  tools: { add: nothing, remove: nothing, clear: nothing },
});

const outputOf = async (call: ToolCallPart, options: AnswerCallOptions): Promise<ToolOutput> => {
  const tool = options.tools.find(({ name }) => name === call.toolName);
  const names = options.tools.map(({ name }) => name);
  if (tool === undefined) return unknownToolOutput(call.toolName, names);
  if (tool.execute === undefined || tool.agent !== undefined) {
    throw new AgentError('invalid-tool', `the tool "${tool.name}" does not run here: give its result yourself`);
  }
  const check = await tool.checkInput(call.input);
  if (!check.ok) return invalidInputOutput(tool.name, check.issues);
  const ctx = contextOf(call, options);
  const detailed = options.detailedErrors ?? false;
  try {
    const given = await tool.execute(check.value, ctx);
    const { output, error } = toToolOutput(
      isAsyncIterable(given) ? await lastOf(given, nothing, ctx.signal) : given,
      tool,
    );
    return output ?? failureOutput(error, { detailed });
  } catch (error) {
    return failureOutput(error, { detailed });
  }
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
