import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillCompileCache } from './compile-cache.ts'

const programs = ['src/main.ts', 'test/faults/bot-for-faults.ts'].map((file) => join(import.meta.dirname, '..', '..', file))

/** Vitest's global set-up. Bots that tests start as processes load as those of the image do, in half the time. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-compile-cache-'))
  await Promise.all(programs.map((program) => fillCompileCache(program, folder)))
  // Not Node's own name for it: the tests' own processes would write there, too, until after its end.
  process.env.BOT_COMPILE_CACHE = folder
  return () => rm(folder, { recursive: true, force: true })
}
