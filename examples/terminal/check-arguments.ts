import { readFileSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/** The comment that a program begins with: what it is, and how it is started. */
const headOf = (file: string): string => {
  const lines = readFileSync(file, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join('\n');
};

/** True where the program was asked what it is, and has said it. Throws for an argument that is none of these flags, unless it reads its own. */
export const checkArguments = (flags: readonly string[] | 'own'): boolean => {
  const [, file = '', ...given] = process.argv;
  if (given.includes('--help') || given.includes('-h')) {
    console.log(headOf(file));
    return true;
  }
  if (flags === 'own') return false;
  const unknown = given.find((each) => !flags.includes(each));
  if (unknown === undefined) return false;
  throw new UsageError(`This example does not take ${JSON.stringify(unknown)}; --help says what it is.`);
};
