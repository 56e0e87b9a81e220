import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-example.ts';

/** The fenced blocks of a document in one language, in order. */
export const blocksOf = (file: string, language: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [text ?? ''] : [],
  );

export const readmeBlocks = (language: string): string[] => blocksOf('README.md', language);
