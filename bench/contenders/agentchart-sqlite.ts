import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../src/stores/sqlite-store.ts';
import type { Contender } from '../harness/contender.ts';
import { agentchart, storedSessions } from './agentchart.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-agentchart-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const openStore = () => {
  files += 1;
  return sqliteStore(join(folder, `${files}.db`));
};

// Paused runs are in a file, and a document is the same wherever it is kept.
const { pause: _, asleep: __, resume: ___, ...rest } = agentchart(openStore);

export const contender: Contender = { ...rest, ...storedSessions(openStore), isStored: true };
