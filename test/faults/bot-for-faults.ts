import { run } from '../../src/run.ts'

/** Runs the bot as its own process with short waits: what takes a minute takes seconds. Everything else is as in production. */
const windowMs = process.env.ACCOUNT_WINDOW_MS
await run(process.env, {
  timings: {
    graceMs: 4_000,
    unsettledMs: 4_000,
    handoverMs: 4_000,
    accountWindowMs: windowMs === undefined ? undefined : Number(windowMs),
  },
})
