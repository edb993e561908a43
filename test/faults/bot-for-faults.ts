import { run } from '../../src/run.ts'

/** Runs the bot as its own process with short waits: what takes a minute takes `SHORT_MS`. Everything else is as in production. */
const { ACCOUNT_WINDOW_MS: windowMs, SHORT_MS: shortMs = '4000' } = process.env
const ms = Number(shortMs)
await run(process.env, {
  timings: { graceMs: ms, unsettledMs: ms, handoverMs: ms, accountWindowMs: windowMs === undefined ? undefined : Number(windowMs) },
})
