import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fillCompileCache } from '../sandbox/compile-cache.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { botEnvironment } from './bot-environment.ts'
import { compileBot } from './compile-bot.ts'
import type { Effort } from './effort.ts'
import { residentMb, startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const variants = ['compiled to JavaScript', 'the TypeScript, with a warm compile cache'] as const
type Variant = (typeof variants)[number]
const base: Variant = 'compiled to JavaScript'
/** The image starts the bot like this. */
const asInTheImage: Variant = 'the TypeScript, with a warm compile cache'
const most = { ready: 1, idleMb: 130 }
/** The options of Node and malloc in the image. */
const nodeOptions = ['--max-semi-space-size=4', '--max-old-space-size=1536']
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' }

interface Figures {
  readyMs: number
  residentMb: number
}

/** Measures how long the bot takes until it is ready, and its memory after that. */
export async function benchStartUp({ quick, rounds }: Effort): Promise<string> {
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const compiled = await compileBot()
  const caches = await mkdtemp(join(tmpdir(), 'lockkeeper-compile-cache-'))
  const redis = await startRedis({ appendonly: true })
  const outside = await startProgram(place('./acknowledge/outside.ts'), 'port')
  const env = botEnvironment({ outsideUrl: `http://127.0.0.1:${JSON.parse(outside.line).port}`, redisUrl: redis.url, prefix: 'bench' })
  const main = place('../../src/main.ts')
  async function measure(variant: Variant): Promise<Figures> {
    const [file, cache] = variant === asInTheImage ? [main, { NODE_COMPILE_CACHE: caches }] : [compiled.main, {}]
    const program = await startProgram(file, 'Lockkeeper is ready', { env: { ...env, ...malloc, ...cache }, nodeOptions })
    try {
      await delay(quick ? 100 : 3_000)
      return { readyMs: program.readyMs, residentMb: residentMb(program.pid) }
    } finally {
      program.stop()
    }
  }

  try {
    await fillCompileCache(main, caches)
    // Start each variant once before, so that all files are in the page cache.
    await interleave(variants, 1, measure)
    const figures = await interleave(variants, rounds, measure)
    const rows = variants.map((variant) => {
      const middle = (figure: (figures: Figures) => number) => median(figures[variant].map(figure))
      const ready = ratio(figures[variant], figures[base], ({ readyMs }) => readyMs)
      const idleMb = middle((found) => found.residentMb)
      const goals = variant === asInTheImage ? most : { ready: undefined, idleMb: undefined }
      return [variant, fixed(ready), ...judged(ready, goals.ready), fixed(idleMb, 0), ...judged(idleMb, goals.idleMb)]
    })
    return table(['', 'time to ready', 'target', '', 'idle memory, MB', 'target', ''], rows)
  } finally {
    outside.stop()
    await redis.stop()
    await Promise.all([compiled.remove(), rm(caches, { recursive: true, force: true })])
    clearInterval(alive)
  }
}
