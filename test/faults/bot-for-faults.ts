import { run } from '../../src/run.ts'

/** Runs the bot as its own process with short waits: what takes a minute takes `SHORT_MS`. Everything else is as in production. */
const { ACCOUNT_WINDOW_MS: windowMs, REPEAT_MS: repeatMs, SHORT_MS: shortMs = '4000' } = process.env
const optional = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const ms = Number(shortMs)
await run(process.env, {
  timings: { graceMs: ms, unsettledMs: ms, handoverMs: ms, accountWindowMs: optional(windowMs), repeatMs: optional(repeatMs) },
})
