import { run } from '../../src/run.ts'

/** Runs the bot as its own process with short waits: what takes a minute takes seconds. Everything else is as in production. */
await run(process.env, { timings: { graceMs: 4_000, handoverMs: 4_000 } })
