import { AgentError } from '../errors.ts';
import { fromRepeats } from './from-repeats.ts';
import { fromSnapshots } from './from-snapshots.ts';

type Fields = Record<string, unknown>;

/** From each version of what is stored to a later one, which it names. Fixtures of each version are kept with the tests. */
const migrations: Readonly<Record<number, (document: Fields) => Fields>> = {
  1: fromSnapshots,
  2: fromRepeats,
};

/** A document of any older version as one of this version. */
export const migrated = (document: Fields, version: number, invalid: (what: string) => AgentError): Fields => {
  const written = document['machineVersion'];
  if (typeof written !== 'number' || !Number.isInteger(written) || written < 1)
    throw invalid('its "machineVersion" is not an integer ≥ 1');
  if (written > version) {
    throw new AgentError(
      'newer-document',
      `the session was written by a newer version (machineVersion ${written}, this one reads up to ${version}); update agentchart here`,
    );
  }
  let current = document;
  for (let step = written; step < version; step = Number(current['machineVersion'])) {
    try {
      current = migrations[step]?.(current) ?? {};
    } catch (error) {
      throw invalid(
        `it cannot be brought from machineVersion ${step} to ${version}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return current;
};
