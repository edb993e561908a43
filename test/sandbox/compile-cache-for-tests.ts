import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { botProgram } from './bot-process.ts'
import { fillCompileCache } from './compile-cache.ts'

/** The global set-up of Vitest. Gives bot processes of tests a compile cache as in the image, which halves the time of their start. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-compile-cache-'))
  // It loads what the other programs load, too, except their own few lines.
  await fillCompileCache(botProgram('bot-for-faults'), folder)
  // Not Node's own variable: the processes of the tests would write to the cache, too, until after its removal.
  process.env.BOT_COMPILE_CACHE = folder
  // A process that ends just now may still write to it.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
