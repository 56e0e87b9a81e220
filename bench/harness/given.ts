import { parseArgs } from 'node:util';
import { contenders, workloads } from './lists.ts';

/** What a command line asks for. */
export interface Given {
  workloads: readonly string[];
  contenders: readonly string[];
  rounds: number;
  /** False where it asks for a part of the table alone, or for a look. */
  isWritten: boolean;
  docs: boolean;
  help: boolean;
}

export const usage = `npm run bench -- [workload …] [--only contender,…] [--dry] [--rounds N]
npm run bench -- --docs

  --only contender,…  runs these alone, and writes nothing
  --dry               writes nothing
  --rounds N          rounds that count, of each workload whose figures vary; default 7
  --docs              runs nothing: writes the figures of results.json into the documents again

workloads (default: all): ${workloads.names.join(', ')}
contenders: ${contenders.names.join(', ')}`;

/** A command line that cannot be carried out; the message says why. */
export class BadArguments extends Error {}

const checkNames = (what: string, names: readonly string[], known: readonly string[]): void => {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new BadArguments(`there is no ${what} "${unknown}"; known: ${known.join(', ')}`);
};

const parse = (args: string[]) => {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        docs: { type: 'boolean', default: false },
        dry: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        only: { type: 'string' },
        rounds: { type: 'string', default: '7' },
      },
    });
  } catch (error) {
    throw new BadArguments(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
};

/** Throws `BadArguments`. */
export const givenBy = (args: string[]): Given => {
  const { values, positionals } = parse(args);
  const { docs, dry, help, only } = values;
  checkNames('workload', positionals, workloads.names);
  const chosen = only?.split(',') ?? contenders.names;
  checkNames('contender', chosen, contenders.names);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new BadArguments(`--rounds must be a whole number from 1 on, not ${values.rounds}`);
  return {
    workloads: positionals.length > 0 ? positionals : workloads.names,
    contenders: chosen,
    rounds,
    // Part of a table is no table.
    isWritten: !dry && only === undefined,
    docs,
    help,
  };
};
