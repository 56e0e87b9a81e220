#!/usr/bin/env node
import { main } from './main.ts';

// The reader has left, as `| head` does: that is no failure.
process.stdout.on('error', () => process.exit());
process.exitCode = await main(process.argv.slice(2));
