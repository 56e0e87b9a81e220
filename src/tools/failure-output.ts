import type { ToolOutput } from '../messages/message.ts';
import { safeMessage } from './error-text.ts';
import type { InputIssue } from './input-issues.ts';
import { headOf } from './truncate-text.ts';

type ErrorText = Extract<ToolOutput, { type: 'error-text' }>;

const errorText = (text: string): ErrorText => ({ type: 'error-text', value: `Error: ${text}` });

/** What the model reads of a tool that threw (R16). With `detailed` its message follows, without stack and file paths. */
export const failureOutput = (error: unknown, { detailed = false }: { detailed?: boolean } = {}): ErrorText => {
  const message = detailed ? safeMessage(error) : '';
  return errorText(message === '' ? 'the tool failed.' : `the tool failed. ${message}`);
};

/** What the model reads of arguments that do not fit (R17): always detailed, for the model has to mend them. */
export const invalidInputOutput = (toolName: string, issues: readonly InputIssue[]): ErrorText => {
  const lines = issues.map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message.toWellFormed()}`);
  return errorText(
    [`the arguments for the tool "${toolName}" are not valid; the tool did not run.`, ...lines].join('\n'),
  );
};

/** What the model reads where it named a tool that does not exist (R18). Names are matched exactly (see `createToolRegistry`). */
export const unknownToolOutput = (name: string, knownNames: readonly string[]): ErrorText =>
  errorText(
    `there is no tool named ${JSON.stringify(headOf(name, 100))}. ${
      knownNames.length === 0 ? 'There are no tools.' : `Known tools: ${knownNames.join(', ')}.`
    }`,
  );
