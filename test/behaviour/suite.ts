import { afterAll, beforeAll, describe } from 'vitest';
import type { Backend, Running } from './backend.ts';
import { approvals } from './cases/approvals.ts';
import { documents } from './cases/documents.ts';
import { failures } from './cases/failures.ts';
import { nested } from './cases/nested.ts';
import { restarts } from './cases/restarts.ts';
import { stops } from './cases/stops.ts';
import { turns } from './cases/turns.ts';

const subjects = [turns, approvals, stops, failures, nested, restarts, documents];

export interface BehaviourOptions {
  /** Whether the backend keeps agents that run at once apart. What waits for another process takes less time then. */
  concurrent?: boolean;
}

/** Everything that a session promises, over one backend. */
export const behaviour = (
  name: string,
  make: () => Backend | Promise<Backend>,
  options: BehaviourOptions = {},
): void => {
  describe(`sessions on ${name}`, options, () => {
    let backend: Backend;
    const running: Running[] = [];
    beforeAll(async () => {
      backend = await make();
    });
    afterAll(async () => {
      await Promise.all(running.map((each) => each.close()));
      await backend.close();
    });

    for (const define of subjects) {
      define(async (given) => {
        const started = await backend.start(given);
        running.push(started);
        return started;
      });
    }
  });
};
