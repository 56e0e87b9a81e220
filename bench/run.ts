// npm run bench [-- workload …] [-- --docs] [-- --rounds N] [-- --only contender,…]
import { parseArgs } from 'node:util';
import { installPeers } from './harness/install.ts';
import { contenders, titles, workloads } from './harness/lists.ts';
import { createRace } from './harness/race.ts';
import { fillDocs, readResults, writeResults } from './harness/results.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    docs: { type: 'boolean' },
    rounds: { type: 'string', default: '7' },
    only: { type: 'string' },
    dry: { type: 'boolean' },
  },
});

const unknown = positionals.find((name) => !workloads.names.includes(name));
if (unknown !== undefined) {
  console.error(`there is no workload "${unknown}"; known: ${workloads.names.join(', ')}`);
  process.exit(1);
}

if (values.docs === true) {
  fillDocs(readResults());
  process.exit(0);
}

installPeers();
const only = values.only?.split(',') ?? contenders.names;
const race = createRace(only, Number(values.rounds));
const results = readResults();
try {
  for (const name of positionals.length > 0 ? positionals : workloads.names) {
    const workload = await workloads.load(name);
    console.log(`\n${workload.title} (${workload.unit})`);
    const standings = await (workload.alone?.(only) ?? race.run(name, workload));
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
    // Part of a table is no table.
    if (values.dry !== true && values.only === undefined) await writeResults(results);
  }
} finally {
  race.stop();
}
