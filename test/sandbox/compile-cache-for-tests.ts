import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillCompileCache } from './compile-cache.ts'

const programs = ['src/main.ts', 'test/faults/bot-for-faults.ts'].map((file) => join(import.meta.dirname, '..', '..', file))

/** The global set-up of Vitest. Gives bot processes of tests a compile cache as in the image, which halves the time of their start. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-compile-cache-'))
  await Promise.all(programs.map((program) => fillCompileCache(program, folder)))
  // Not Node's own variable: the processes of the tests would write to the cache, too, until after its removal.
  process.env.BOT_COMPILE_CACHE = folder
  return () => rm(folder, { recursive: true, force: true })
}
