import { run } from './run.ts'

await run(process.env)
