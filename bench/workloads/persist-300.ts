import { persisting } from '../harness/persisting.ts';
import type { Workload } from '../harness/workload.ts';

export const workload: Workload = {
  title: '300 rounds, stored',
  about:
    'Rounds of one call with 1 kB results where every step is in a file before the next begins: time and bytes written.',
  unit: 'ms',
  prepare: (contender) =>
    persisting(contender, 300, ({ ms, bytes, messages }) => ({
      time: ms,
      'kB written': bytes / 1000,
      'kB of messages': messages / 1000,
    })),
};
