import type { ToolOutput } from '../messages/message.ts';
import { safeMessage } from './error-text.ts';

export type ErrorText = Extract<ToolOutput, { type: 'error-text' }>;

export const errorText = (text: string): ErrorText => ({ type: 'error-text', value: `Error: ${text}` });

/** What the model reads of a tool that threw (R16). With `detailed` its message follows, without stack and file paths. */
export const failureOutput = (error: unknown, { detailed = false }: { detailed?: boolean } = {}): ErrorText => {
  const message = detailed ? safeMessage(error) : '';
  return errorText(message === '' ? 'the tool failed.' : `the tool failed. ${message}`);
};
