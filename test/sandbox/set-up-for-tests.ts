import { symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import type { TestProject } from 'vitest/node'
import { botProgram, botPrograms, fillCompileCache } from './bot-process.ts'
import { findRedis } from './redis/start-redis.ts'
import { temporaryFolder } from './watchdog.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** One Redis for all test files. Each uses its own key prefix. */
    redisUrl: string
  }
}

const nodeModules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** The global set-up of Vitest. Without a Redis the run fails. Nothing is skipped. */
export async function setup({ provide, vitest }: TestProject): Promise<() => Promise<void>> {
  // The bot requires the file. No test of this Redis loses its power.
  const redis = await findRedis({ appendonly: true, settings: ['appendfsync no'] })
  provide('redisUrl', redis.url)
  const { folder } = await temporaryFolder('bots')
  // In watch mode, the bundles would stay as they are when a file changes. The long suites run the files as they are, like production.
  if (vitest.config.mode === 'test' && !vitest.config.watch) await bundleBots(folder)
  // A compile cache as in the image halves the time of a start. This program loads what the others load, too, except their own few lines.
  await fillCompileCache(botProgram('bot-for-faults'), join(folder, 'cache'))
  // Not Node's own variable: the processes of the tests would write to the cache, too, until after its removal.
  process.env.BOT_COMPILE_CACHE = join(folder, 'cache')
  return redis.stop
}

/** What a program reads stays where it is, next to its modules. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  transform: (code, id) =>
    code
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id))),
}

/** Bundles the programs of the bot, because about fifty processes would load 1,800 files each. */
async function bundleBots(folder: string): Promise<void> {
  // For packages that find a part of themselves by their place, or whose modules must be loaded in their own order.
  await symlink(nodeModules, join(folder, 'node_modules'), 'junction')
  await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [keepAddresses],
    ssr: { noExternal: true, external: ['msgpackr', '@simplewebauthn/server'] },
    build: {
      ssr: true,
      target: 'node24',
      minify: false,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { input: botPrograms, output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name].mjs' } },
    },
  })
  process.env.BOT_BUNDLES = folder
}
