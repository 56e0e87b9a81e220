import { defineConfig } from 'vitest/config';

export default defineConfig({
  // XState warns of misuse only under this condition.
  resolve: { conditions: ['development'] },
  ssr: { resolve: { conditions: ['development'], externalConditions: ['development'] } },
  test: {
    include: ['test/**/*.test.ts'],
    execArgv: ['--conditions=development'],
    testTimeout: 20_000,
  },
});
