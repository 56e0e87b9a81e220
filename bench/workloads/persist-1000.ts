import { persisting } from '../harness/persisting.ts';
import type { Workload } from '../harness/workload.ts';

export const workload: Workload = {
  title: '1,000 rounds, stored',
  about:
    'Bytes written for each byte of the final messages, rounds of one call with 1 kB results; and what the last 50 rounds write against rounds 51–100.',
  unit: 'ratio',
  prepare: (contender) =>
    persisting(contender, 1000, ({ ms, bytes, messages, between }) => ({
      'written ÷ messages': bytes / messages,
      'last 50 ÷ rounds 51–100': between(949, 999) / between(50, 100),
      ms,
    })),
};
