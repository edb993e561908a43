import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fillCompileCache } from '../sandbox/bot-process.ts'
import {
  botEnvironment,
  type Effort,
  fixed,
  interleave,
  judged,
  median,
  programOf,
  ratio,
  residentMb,
  startProgram,
  table,
  withRedis,
} from './measure.ts'

const root = resolve(import.meta.dirname, '../..')
const base = 'compiled to JavaScript'
/** The image starts the bot like this. */
const asInTheImage = 'the TypeScript, with a warm compile cache'
const variants = [base, asInTheImage] as const
const most = { ready: 1, idleMb: 110 }
/** The options of Node and malloc in the image. */
const nodeOptions = ['--max-semi-space-size=4', '--max-old-space-size=384']
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' }

export function benchStartUp({ quick, rounds }: Effort): Promise<string> {
  return withRedis(async (redis) => {
    const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-start-up-'))
    const [main, caches] = [join(root, 'src/main.ts'), join(folder, 'cache')]
    const compiled = await compileBot(join(folder, 'compiled'))
    const outside = await startProgram(programOf('servers'), 'port')
    const outsideUrl = `http://127.0.0.1:${JSON.parse(outside.line).port}`
    const env = { ...botEnvironment({ outsideUrl, redisUrl: redis.url, prefix: 'bench' }), ...malloc }

    async function measure(variant: (typeof variants)[number]) {
      const [file, cache] = variant === asInTheImage ? [main, { NODE_COMPILE_CACHE: caches }] : [compiled, {}]
      const program = await startProgram(file, 'Lockkeeper is ready', { env: { ...env, ...cache }, nodeOptions })
      await delay(quick ? 100 : 3_000)
      const idleMb = residentMb(program.pid)
      program.stop()
      return { readyMs: program.readyMs, idleMb }
    }

    await fillCompileCache(main, caches)
    // Start each variant once before, so that all files are in the page cache.
    if (!quick) await interleave(variants, 1, measure)
    const figures = await interleave(variants, rounds, measure)
    const rows = variants.map((variant) => {
      const ready = ratio(figures[variant], figures[base], ({ readyMs }) => readyMs)
      const idleMb = median(figures[variant].map((one) => one.idleMb))
      const goals = variant === asInTheImage ? most : { ready: undefined, idleMb: undefined }
      return [variant, fixed(ready), ...judged(ready, goals.ready), fixed(idleMb, 0), ...judged(idleMb, goals.idleMb)]
    })
    outside.stop()
    await rm(folder, { recursive: true, force: true })
    return table(['', 'time to ready', 'target', '', 'idle memory, MB', 'target', ''], rows)
  })
}

/** Each file is only stripped of its types: `npm run check` checks them, and a mistake in them must not stop a benchmark. */
async function compileBot(folder: string): Promise<string> {
  const files = (await readdir(join(root, 'src'), { recursive: true })).map((file) => join('src', file))
  const program = files.filter((file) => file.endsWith('.ts'))
  const options = [
    '--ignoreConfig',
    '--noCheck',
    '--noResolve',
    '--rewriteRelativeImportExtensions',
    '--target',
    'es2024',
    '--module',
    'nodenext',
  ]
  const tsc = ['node_modules/typescript/bin/tsc', ...program, ...options, '--types', '', '--rootDir', '.', '--outDir', folder]
  await promisify(execFile)(process.execPath, tsc, { cwd: root })
  for (const script of files.filter((file) => file.endsWith('.lua'))) await cp(join(root, script), join(folder, script))
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'src/main.js')
}
