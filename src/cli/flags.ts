import type { JsonValue } from '../messages/json.ts';
import { UsageError } from './usage-error.ts';

export const integerFlag = (name: string, given: string): number => {
  if (!/^\d{1,15}$/.test(given)) throw new UsageError(`${name} must be a whole number, not ${given}.`);
  return Number(given);
};

export const jsonFlag = (name: string, given: string): JsonValue => {
  try {
    return JSON.parse(given) as JsonValue;
  } catch (error) {
    throw new UsageError(`${name} must be JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

export const memoryFlag = (given: string): 'tool' | 'input' => {
  if (given === 'tool' || given === 'input') return given;
  throw new UsageError(`--remember must be tool or input, not ${given}.`);
};

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time that an age such as `30d`, `12h` or `90m` lies before now, in ms since 1970. */
export const timeBefore = (given: string, now: number): number => {
  const [, count = '', unit = ''] = /^(\d{1,9})([mhd])$/.exec(given) ?? [];
  const length = units[unit];
  if (length === undefined) throw new UsageError(`--older-than must be an age such as 30d, 12h or 90m, not ${given}.`);
  return now - Number(count) * length;
};
