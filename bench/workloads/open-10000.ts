import { type Workload, timed } from '../harness/workload.ts';

export const workload: Workload = {
  title: 'open a session of 10,000 messages',
  about: 'From the file to a live session, against reading its messages and `JSON.parse` of each.',
  unit: 'ratio',
  prepare: async (contender) => {
    const session = await contender.long?.(10_000);
    return (
      session &&
      (async () => {
        const read = await timed(session.read);
        const open = await timed(session.open);
        return { 'open ÷ read and parse': open / read, ms: open };
      })
    );
  },
};
