import type { ToolOutput } from '../../messages/message.ts';
import type { CallResult } from '../../tools/call.ts';
import type { UIMessageChunk } from './ui-types.ts';

type OutputChunk = Extract<UIMessageChunk, { type: 'tool-output-available' | 'tool-output-error' }>;

/** What the model reads is what the page shows: never the error itself, which is for logs (R16). */
const errorTextOf = (output: ToolOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'Tool call invocation rejected.';
    case 'content':
      return output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    default:
      return output satisfies never;
  }
};

/** The end of a call: its output, or why there is none. */
export const outputChunk = (
  toolCallId: string,
  { status, output }: Pick<CallResult, 'status' | 'output'>,
): OutputChunk => {
  const isFailure = output.type === 'error-text' || output.type === 'error-json' || output.type === 'execution-denied';
  if (status !== 'ok' || isFailure) {
    return { type: 'tool-output-error', toolCallId, errorText: errorTextOf(output) };
  }
  return { type: 'tool-output-available', toolCallId, output: output.value };
};
