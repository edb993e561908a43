import { run } from '../../src/run.ts'

/** The bot as a process of its own, with short waits: what takes a minute takes seconds. Everything else is as in production. */
await run(process.env, { timings: { graceMs: 4_000, handoverMs: 4_000 } })
