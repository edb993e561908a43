import { defineConfig } from 'vitest/config'

/** What takes long, because processes, Redis and connections are killed over and over: `npm run test:faults`. */
const long = 'test/faults/**/*.long.test.ts'

export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'faults' ? [] : [long],
    globalSetup: ['test/sandbox/redis-for-tests.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Many tests wait for a clock, so that more than the cores are kept busy; where processes fight for them, as many as there are.
    maxWorkers: mode === 'faults' ? 2 : 3,
  },
}))
