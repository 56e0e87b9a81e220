import { type Message } from '../../src/index.ts';
import { median } from '../harness/median.ts';
import { ask, withEngine } from '../harness/restate.ts';
import type { Workload } from '../harness/workload.ts';

const rounds = 7;
const roundsInTurn = 20;

const historyOf = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { role: 'user', content: `question ${index}` }
      : { role: 'assistant', content: [{ type: 'text', text: `answer ${index} `.repeat(15) }] },
  );

export const workload: Workload = {
  title: 'a long history over the engine',
  about:
    'One round with one call in a session of 1,000 messages, against the same in one of 10. The longer one has 200 kB of text; a round must not cost more for it.',
  unit: 'ratio',
  prepare: async () => undefined,
  alone: async () => {
    const figures = await withEngine(1, async (open) => {
      const perRound = async (messages: number): Promise<number> => {
        const session = await open();
        await session.send([
          ...historyOf(messages),
          { role: 'user', content: JSON.stringify({ rounds: 0, calls: 0, ms: 0 }) },
        ]);
        await session.settled();
        const begun = performance.now();
        await ask(session, { rounds: roundsInTurn, calls: 1, ms: 0 });
        return (performance.now() - begun) / roundsInTurn;
      };
      const short: number[] = [];
      const long: number[] = [];
      for (let round = 0; round < rounds + 1; round += 1) {
        const times = [await perRound(10), await perRound(1_000)] as const;
        // The first is for the compiler.
        if (round === 0) continue;
        short.push(times[0]);
        long.push(times[1]);
      }
      return { short: median(short), long: median(long) };
    });
    return {
      'agentchart-restate': {
        rounds,
        figures: {
          '1,000 ÷ 10 messages': figures.long / figures.short,
          'ms a round at 10': figures.short,
          'ms a round at 1,000': figures.long,
        },
      },
    };
  },
};
