import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Backend, Running } from './backend.ts';
import { approvals } from './cases/approvals.ts';
import { documents } from './cases/documents.ts';
import { failures } from './cases/failures.ts';
import { nested } from './cases/nested.ts';
import { restarts } from './cases/restarts.ts';
import { stops } from './cases/stops.ts';
import { turns } from './cases/turns.ts';

const subjects = [turns, approvals, stops, failures, nested, restarts, documents];

/** Everything that a session promises, over one backend. */
export const behaviour = (name: string, make: () => Backend | Promise<Backend>): void => {
  describe(`sessions on ${name}`, () => {
    let backend: Backend;
    const running: Running[] = [];
    beforeAll(async () => {
      backend = await make();
    }, 60_000);
    afterEach(async () => {
      await Promise.all(running.splice(0).map((each) => each.close()));
    });
    afterAll(() => backend.close());

    for (const define of subjects) {
      define(async (options) => {
        const started = await backend.start(options);
        running.push(started);
        return started;
      });
    }
  });
};
