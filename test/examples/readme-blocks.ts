import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-example.ts';

/** The fenced blocks of the README in one language, in order. */
export const readmeBlocks = (language: string): string[] =>
  [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, name, text]) => (name === language ? [text ?? ''] : []),
  );
