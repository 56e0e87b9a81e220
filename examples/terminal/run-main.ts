import { AgentError } from 'agentchart';
import { escapeText } from './escape-text.ts';
import { UsageError } from './usage-error.ts';

const isBadFlag = (error: Error): boolean => 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

/** Runs a program: its number is the exit status; an error is shown as text, never as a stack. */
export const runMain = async (main: () => Promise<number>): Promise<void> => {
  // The reader has left, as `| head` does: that is no failure.
  process.stdout.on('error', () => process.exit());
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = error instanceof AgentError ? ` (${error.code})` : '';
    process.stderr.write(`\n${escapeText(error.message)}${code}\n`);
    process.exitCode = error instanceof UsageError || isBadFlag(error) ? 2 : 1;
  }
};
