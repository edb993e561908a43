import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import type { TestProject } from 'vitest/node'
import { botPrograms } from './bot-process.ts'

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
export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // In watch mode, the bundles would stay as they are when a file changes.
  if (vitest.config.watch) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-bots-'))
  // For a package that finds a compiled part of itself by its place.
  await symlink(nodeModules, join(folder, 'node_modules'), 'junction')
  await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [keepAddresses],
    ssr: { noExternal: true, external: ['msgpackr'] },
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
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
