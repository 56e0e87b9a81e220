import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compileCache } from './test/support/compile-cache.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/** Each of these has a worker of its own: they start a browser, fake the time, change or listen to what the whole process does, or ask for one
 * in which nothing was loaded before. */
const apart = [
  'test/cli/**/*.test.ts',
  'test/examples/react.test.ts',
  'test/behaviour/{postgres,restate}.test.ts',
  'test/cases/loop-control.test.ts',
  'test/documents/damaged-documents.test.ts',
  'test/inspector/{inspect-store,page,server}.test.ts',
  'test/mcp/{everything,mcp-tools}.test.ts',
  'test/middleware/rate-limit.test.ts',
  'test/otel/**/*.test.ts',
  'test/package/tarball.test.ts',
  'test/properties/**/*.test.ts',
  'test/restate/{call-ingress,clients,engine-log,killed}.test.ts',
  'test/scenarios/conformance.test.ts',
  'test/server/event-stream.test.ts',
  'test/sessions/{full-store,killed-under-load,store-failures,two-owners,wrong-values}.test.ts',
  'test/stores/{postgres-store,sqlite-store}.test.ts',
  'test/testing/{crash-everywhere,explore,kill-everywhere}.test.ts',
];

// What programs print is looked at; colours are a wish of who runs the tests.
for (const name of ['FORCE_COLOR', 'NO_COLOR']) delete process.env[name];

export default defineConfig({
  // XState warns of misuse only under `development`; the examples import the package by its name.
  resolve: { conditions: ['development', 'agentchart-source'] },
  ssr: { resolve: { conditions: ['development', 'agentchart-source'], externalConditions: ['development'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      // Workers that stay, with all that they have loaded. No state of a module may go from one file to the next, and no hook stands at its top.
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: apart, isolate: false } },
    ],
    setupFiles: ['test/support/let-go.ts'],
    sequence: { sequencer: LongestFirst },
    execArgv: ['--conditions=development'],
    // Threads begin sooner than processes.
    pool: 'threads',
    // None is as long as that; a machine that has much else to do is slow, and no test is wrong for it.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { interval: 2, timeout: 90_000 } },
    env: { NODE_COMPILE_CACHE: compileCache },
    // More than the cores: files that wait for processes, browsers and engines leave theirs to others meanwhile.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
  },
});
