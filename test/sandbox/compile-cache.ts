import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Fills the cache as the build of the image does: without a configuration the bot ends by itself. A killed process would not write the
 * cache.
 */
export async function fillCompileCache(main: string, folder: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: folder }
  await once(spawn(process.execPath, [main], { env, stdio: 'ignore' }), 'exit')
}
