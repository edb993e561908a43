import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import { botPrograms } from './bot-programs.ts'

const nodeModules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** The scripts for Redis stay where they are, next to their modules. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
}

/**
 * The global set-up of `npm test`. Bundles the programs of the bot, because about fifty processes would load 1,800 files each. The long
 * suites and two starts of `test/start.test.ts` run the files as they are, like production.
 */
export async function setup(): Promise<() => Promise<void>> {
  await mkdir(join(nodeModules, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(nodeModules, '.cache', 'bots-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [keepAddresses],
    ssr: { noExternal: true, external: ['msgpackr'] },
    build: { ssr: true, target: 'node24', minify: false, outDir: folder, rolldownOptions: { input: botPrograms } },
  })
  process.env.BOT_BUNDLES = folder
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
