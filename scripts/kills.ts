// Sessions on Restate while workers and the engine are killed at random, round after round, each with a seed of its own:
// `npm run kills -- [--rounds 20] [--sessions 20] [--kills 9] [--seed N]`. Prints a line of JSON for each round and one for all; its status
// is 1 where something is wrong.
import { parseArgs } from 'node:util';
import { restateMissing } from '../test/support/restate-server.ts';
import { runKilled } from '../test/restate/killed/run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    sessions: { type: 'string', default: '20' },
    kills: { type: 'string', default: '9' },
    seed: { type: 'string' },
  },
});
if (restateMissing !== false) {
  console.error(restateMissing);
  process.exit(2);
}
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const total = { rounds: 0, sessions: 0, workers: 0, servers: 0, again: 0, askedAgain: 0, unknown: 0, problems: 0 };
for (let round = 0; round < Number(values.rounds); round++) {
  const seed = first + round;
  const report = await runKilled({
    seed,
    sessions: Number(values.sessions),
    workers: 2,
    kills: Number(values.kills),
    within: 300,
  });
  console.log(JSON.stringify({ seed, ...report }));
  total.rounds += 1;
  total.sessions += report.settled;
  total.workers += report.killed.workers;
  total.servers += report.killed.servers;
  total.again += report.again;
  total.askedAgain += report.askedAgain;
  total.unknown += report.unknown;
  total.problems += report.problems.length;
}
console.log(JSON.stringify(total));
process.exit(total.problems === 0 ? 0 : 1);
