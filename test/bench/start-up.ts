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
import { cpuSeconds, residentMb, startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const variants = [
  'compiled to JavaScript',
  'the TypeScript as it is',
  'the TypeScript, with a warm compile cache',
  'compiled, with a warm compile cache',
] as const
type Variant = (typeof variants)[number]
const base: Variant = 'compiled to JavaScript'
/** The image starts the bot like this. */
const measuredByTarget: Variant = 'the TypeScript, with a warm compile cache'

interface Figures {
  readyMs: number
  cpuMs: number
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
  const cached = { main: join(caches, 'typescript'), compiled: join(caches, 'javascript') }
  const starts: Record<Variant, { file: string; cache?: string }> = {
    'compiled to JavaScript': { file: compiled.main },
    'the TypeScript as it is': { file: main },
    'the TypeScript, with a warm compile cache': { file: main, cache: cached.main },
    'compiled, with a warm compile cache': { file: compiled.main, cache: cached.compiled },
  }

  async function measure(variant: Variant): Promise<Figures> {
    const { file, cache } = starts[variant]
    const program = await startProgram(file, 'Lockkeeper is ready', { env: { ...env, ...(cache && { NODE_COMPILE_CACHE: cache }) } })
    try {
      const cpuMs = cpuSeconds(program.pid) * 1_000
      await delay(quick ? 100 : 3_000)
      return { readyMs: program.readyMs, cpuMs, residentMb: residentMb(program.pid) }
    } finally {
      program.stop()
    }
  }

  try {
    await fillCompileCache(main, cached.main)
    await fillCompileCache(compiled.main, cached.compiled)
    // Start each variant once before, so that all files are in the page cache.
    await interleave(variants, 1, measure)
    const figures = await interleave(variants, rounds, measure)
    const rows = variants.map((variant) => {
      const of = (figure: (figures: Figures) => number) => ratio(figures[variant], figures[base], figure)
      const middle = (figure: (figures: Figures) => number) => median(figures[variant].map(figure))
      const ready = of(({ readyMs }) => readyMs)
      return [
        variant,
        fixed(
          middle(({ readyMs }) => readyMs),
          0,
        ),
        fixed(ready),
        ...judged(ready, variant === measuredByTarget ? 1 : undefined),
        fixed(of(({ cpuMs }) => cpuMs)),
        fixed(
          middle((found) => found.residentMb),
          0,
        ),
        fixed(of((found) => found.residentMb)),
      ]
    })
    return table(['', 'ms to ready', 'time to ready', 'target', '', 'CPU to ready', 'idle memory, MB', 'idle memory'], rows)
  } finally {
    outside.stop()
    await redis.stop()
    await Promise.all([compiled.remove(), rm(caches, { recursive: true, force: true })])
    clearInterval(alive)
  }
}
