import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** As the image does when it is built: without a configuration the bot ends by itself. One that is killed never writes the cache. */
export async function fillCompileCache(main: string, folder: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: folder }
  await once(spawn(process.execPath, [main], { env, stdio: 'ignore' }), 'exit')
}
