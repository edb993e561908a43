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
    // Most tests wait for a clock, or for something to go wrong long enough, most of the time.
    maxWorkers: mode === 'faults' ? 3 : 4,
    // Nothing here keeps anything in a module, so that files can share what one worker has loaded.
    isolate: false,
  },
}))
