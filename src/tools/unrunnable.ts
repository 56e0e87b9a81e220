import type { CallResult } from './call.ts';
import { type ErrorText, errorText } from './failure-output.ts';
import type { InputIssue } from './input-issues.ts';
import { headOf } from './truncate-text.ts';

/** A call that its tool cannot run: the model reads the words, people also the code. */
export const unrunnable = (output: ErrorText, code: 'invalid-input' | 'unknown-tool'): CallResult => ({
  status: 'failed',
  output,
  error: { name: code === 'unknown-tool' ? 'UnknownTool' : 'InvalidInput', message: output.value, code },
});

/** What is wrong with arguments, for whoever has to mend them. */
export const invalidInputText = (toolName: string, issues: readonly InputIssue[]): string => {
  const lines = issues.map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message.toWellFormed()}`);
  return [`the arguments for the tool "${toolName}" are not valid; the tool did not run.`, ...lines].join('\n');
};

/** What the model reads of arguments that do not fit (R17): always detailed, for the model has to mend them. */
export const invalidInputOutput = (toolName: string, issues: readonly InputIssue[]): ErrorText =>
  errorText(invalidInputText(toolName, issues));

/** What the model reads where it named a tool that does not exist (R18). Names are matched exactly (see `createToolRegistry`). */
export const unknownToolOutput = (name: string, knownNames: readonly string[]): ErrorText =>
  errorText(
    `there is no tool named ${JSON.stringify(headOf(name, 100))}. ${
      knownNames.length === 0 ? 'There are no tools.' : `Known tools: ${knownNames.join(', ')}.`
    }`,
  );
