import type { TurnResult } from '../../machines/turn-result.ts';
import type { AssistantMessage, FilePart, ToolCallPart } from '../../messages/message.ts';
import type { CallParts } from './call-parts.ts';
import type { TextBlocks } from './text-blocks.ts';
import { fileUrl } from './file-url.ts';
import { outputChunk } from './tool-output-chunk.ts';
import type { UIMessageChunk } from './ui-types.ts';

export interface Shown {
  /** Replies that this stream has seen. */
  replies: number;
  /** Some text of the last reply was streamed. */
  lastText: boolean;
}

const fileChunk = (part: FilePart): UIMessageChunk => ({
  type: 'file',
  mediaType: part.mediaType,
  url: fileUrl(part),
});

const isTheirs = (part: { type: string }): part is ToolCallPart =>
  part.type === 'tool-call' && 'providerExecuted' in part && part.providerExecuted === true;

/** A call that the provider ran itself, with its result if that has come (R9). */
const providerCall = (part: ToolCallPart, message: AssistantMessage): UIMessageChunk[] => {
  const { toolCallId, toolName, input } = part;
  const call: UIMessageChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    providerExecuted: true,
  };
  const results = typeof message.content === 'string' ? [] : message.content;
  const result = results.find((each) => each.type === 'tool-result' && each.toolCallId === toolCallId);
  if (result?.type !== 'tool-result') return [call];
  const end = outputChunk(toolCallId, { status: 'ok', output: result.output });
  return [call, { ...end, providerExecuted: true }];
};

/** The words of a turn that are no text of the model: a tool's result that is the answer itself (R11), or why there is none (R42). */
const unstreamedText = ({ outcome, text }: TurnResult, lastText: boolean): string => {
  if (outcome.type === 'refused') return lastText ? '' : outcome.reason;
  const isDirect = (outcome.type === 'answered' || outcome.type === 'limit') && outcome.callId !== undefined;
  return isDirect ? text : '';
};

/**
 * What a turn holds and its events do not tell: files, calls that the provider ran, and what stands for an answer. It is shown at the
 * turn's end, since only then it is known.
 */
export const unstreamedParts = (
  result: TurnResult,
  { shown, calls, blocks }: { shown: Shown; calls: CallParts; blocks: TextBlocks },
): UIMessageChunk[] => {
  const answers = result.messages.filter((message) => message.role === 'assistant');
  const chunks: UIMessageChunk[] = [];
  for (const message of shown.replies === 0 ? [] : answers.slice(-shown.replies)) {
    for (const part of typeof message.content === 'string' ? [] : message.content) {
      if (part.type === 'file') chunks.push(fileChunk(part));
      if (!isTheirs(part) || calls.isShown(part.toolCallId)) continue;
      calls.show(part.toolCallId);
      chunks.push(...providerCall(part, message));
    }
  }
  return [...chunks, ...blocks.write('text', unstreamedText(result, shown.lastText)), ...blocks.close()];
};
