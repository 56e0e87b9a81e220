import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Session } from 'agentchart';

/** The whole session as one JSON document in a file. */
export const saveSession = (file: string, session: Session): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(session)}\n`);
};
