import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')

/** Compiles the bot to JavaScript in a separate folder, as a build step would. */
export async function compileBot() {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-compiled-'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', 'false', '--rewriteRelativeImportExtensions', '--resolveJsonModule', '--rootDir', root, '--outDir', folder]
  const about = { target: 'es2024', module: 'nodenext', types: 'node', lib: 'es2024,dom,dom.iterable' }
  const flags = [...Object.entries(about).flatMap(([name, value]) => [`--${name}`, value]), '--skipLibCheck', '--strict', '--ignoreConfig']
  await promisify(execFile)(process.execPath, [tsc, join(root, 'src/main.ts'), ...flags, ...options])
  for (const script of await readdir(join(root, 'src'), { recursive: true })) {
    if (script.endsWith('.lua')) await cp(join(root, 'src', script), join(folder, 'src', script))
  }
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { main: join(folder, 'src/main.js'), remove: () => rm(folder, { recursive: true, force: true }) }
}
