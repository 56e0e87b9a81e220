import { AgentError } from 'agentchart';
import { checkArguments } from './check-arguments.ts';
import { escapeText } from './escape-text.ts';
import { UsageError } from './usage-error.ts';

const isBadFlag = (error: Error): boolean => 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

/**
 * Runs a program: its number is the exit status; an error is shown as text, never as a stack. Of arguments it takes these flags; `own` where it
 * reads them itself.
 */
export const runMain = async (
  main: () => Promise<number>,
  { flags = [] }: { flags?: readonly string[] | 'own' } = {},
): Promise<void> => {
  // The reader has left, as `| head` does: that is no failure.
  process.stdout.on('error', () => process.exit());
  try {
    if (checkArguments(flags)) return;
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = error instanceof AgentError ? ` (${error.code})` : '';
    const isUsage = error instanceof UsageError || isBadFlag(error);
    // What was said before may stand on a line that is not at its end.
    process.stderr.write(`${isUsage ? '' : '\n'}${escapeText(error.message)}${code}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
};
