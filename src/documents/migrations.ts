import { AgentError } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import { fromSnapshots } from './from-snapshots.ts';

type Fields = Record<string, unknown>;

/** From each version of what is stored to the next. A migration is never changed again; fixtures of its version are kept with the tests. */
const migrations: Readonly<Record<number, (document: Fields) => Fields>> = {
  1: fromSnapshots,
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
  for (let step = written; step < version; step += 1) {
    try {
      current = migrations[step]?.(current) ?? current;
    } catch (error) {
      throw invalid(
        `it cannot be brought from machineVersion ${step} to ${step + 1}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    if (!isPlainObject(current)) throw invalid('it is not an object');
  }
  return current;
};
