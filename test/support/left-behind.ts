import { rm } from 'node:fs/promises';
import type { Server } from 'node:http';

/** What tests of the file that runs have made and let go of when it ends: `let-go.ts` does that for every file. */
export const leftBehind: { folders: string[]; servers: Server[] } = { folders: [], servers: [] };

export const letGo = async (): Promise<void> => {
  for (const server of leftBehind.servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  for (const folder of leftBehind.folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
};
