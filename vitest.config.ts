import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/sandbox/redis-for-tests.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Many tests wait for a clock, so that more than the cores are kept busy.
    maxWorkers: 3,
  },
})
