import { parseArgs } from 'node:util';
import { UsageError } from '../terminal/usage-error.ts';

const options = {
  file: { type: 'string', default: '.sessions/expense.json' },
  ledger: { type: 'string', default: '.sessions/ledger.json' },
  approve: { type: 'boolean' },
  reject: { type: 'string' },
  edit: { type: 'string' },
} as const;

/** Neither of them: an approval. */
export interface Decision {
  edit?: object;
  reject?: string;
}

export interface ExpenseFlags {
  file: string;
  ledger: string;
  /** Of what waits in the file; absent: something is asked for. */
  decision?: Decision;
  message: string;
}

const objectOf = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below.
  }
  throw new UsageError(`--edit must be an object in JSON such as '{"amount":4000}', not ${text}`);
};

export const readFlags = (): ExpenseFlags => {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { file, ledger, approve, reject, edit } = values;
  const message = positionals.join(' ') || 'Pay 8000 to Mei for the March trip.';
  const given = { file, ledger, message };
  const count = [approve, reject, edit].filter((each) => each !== undefined).length;
  if (count > 1) throw new UsageError('Give one of --approve, --reject and --edit.');
  if (count === 0) return given;
  if (positionals.length > 0) throw new UsageError('Give a decision or something to pay, not both.');
  const decision = {
    ...(edit === undefined ? {} : { edit: objectOf(edit) }),
    ...(reject === undefined ? {} : { reject }),
  };
  return { ...given, decision };
};
