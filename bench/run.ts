// npm run bench -- --help
import { BadArguments, type Given, givenBy, usage } from './harness/given.ts';
import { installPeers } from './harness/install.ts';
import { contenders, titles, workloads } from './harness/lists.ts';
import { createRace } from './harness/race.ts';
import { fillDocs, readResults, writeResults } from './harness/results.ts';

const measure = async (given: Given): Promise<void> => {
  if (given.contenders.some((name) => !contenders.own.includes(name))) installPeers();
  const race = createRace(given.contenders, given.rounds);
  const results = readResults();
  try {
    for (const name of given.workloads) {
      const workload = await workloads.load(name);
      console.log(`\n${workload.title} (${workload.unit})`);
      const standings = await (workload.alone?.(given.contenders) ?? race.run(name, workload));
      for (const [contender, standing] of Object.entries(standings)) {
        const text =
          'figures' in standing
            ? Object.entries(standing.figures)
                .map(([key, value]) => `${key} ${value.toPrecision(4)}`)
                .join(', ')
            : 'error' in standing
              ? standing.error
              : '–';
        console.log(`  ${(titles[contender] ?? contender).padEnd(26)}${text}`);
      }
      results.workloads[name] = { title: workload.title, about: workload.about, unit: workload.unit, standings };
      if (!given.isWritten) continue;
      await writeResults(results);
      fillDocs(readResults());
    }
  } finally {
    race.stop();
  }
};

try {
  const given = givenBy(process.argv.slice(2));
  if (given.help) console.log(usage);
  else if (given.docs) fillDocs(readResults());
  else await measure(given);
} catch (error) {
  if (!(error instanceof BadArguments)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
