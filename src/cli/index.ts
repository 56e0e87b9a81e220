#!/usr/bin/env node
import { failureText, main } from './main.ts';

const args = process.argv.slice(2);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has left, as `| head` does: that is no failure.
  if (error.code === 'EPIPE') process.exit();
  const failure = new Error(`the output could not be written: ${error.message}`, { cause: error });
  process.stderr.write(`${failureText(failure, args.includes('--json'))}\n`);
  process.exit(1);
});
process.exitCode = await main(args);
