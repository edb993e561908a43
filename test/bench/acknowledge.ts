import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { Acknowledged, Load } from './acknowledge/load.ts'
import { botEnvironment, signingSecret } from './bot-environment.ts'
import type { Effort } from './effort.ts'
import { cpuSeconds, exchange, startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, judged, table } from './table.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const programs = {
  'Bolt `HTTPReceiver`, echo': './acknowledge/bolt-echo.ts',
  '`node:http` and HMAC': './acknowledge/bare-http.ts',
  'Lockkeeper, with de-duplication and authorization': './acknowledge/bot-without-answers.ts',
}
type Variant = keyof typeof programs
const variants = Object.keys(programs) as Variant[]
const base: Variant = 'Bolt `HTTPReceiver`, echo'
/** The work for any command, before and after its acknowledgement. */
const measuredByTarget: Variant = 'Lockkeeper, with de-duplication and authorization'

const connections = 16
const most = 1.5

/** `wallMs` and `cpuMs`: of one command. */
interface Figures extends Acknowledged {
  cpuMs: number
  redisCommands: number
}

/** Measures what it costs to acknowledge a signed slash command. */
export async function benchAcknowledge({ quick, rounds }: Effort): Promise<string> {
  const count = quick ? 200 : 3_000
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const redis = await startRedis({ appendonly: true })
  const admin = new Redis(redis.url)
  const outside = await startProgram(place('./acknowledge/outside.ts'), 'port')
  const outsideUrl = `http://127.0.0.1:${JSON.parse(outside.line).port}`
  const generator = fork(place('./acknowledge/load.ts'))
  const running = await Promise.all(variants.map(start))

  async function start(variant: Variant) {
    const env = botEnvironment({ outsideUrl, redisUrl: redis.url, prefix: `bench-${variants.indexOf(variant)}` })
    const program = await startProgram(place(programs[variant]), 'slackPort', { env })
    return { variant, program, port: JSON.parse(program.line).slackPort as number }
  }

  async function measure(variant: Variant): Promise<Figures> {
    const found = running.find((candidate) => candidate.variant === variant)
    if (!found) throw new Error(`${variant} does not run`)
    const { program, port } = found
    const before = { cpu: cpuSeconds(program.pid), commands: await redisCommands(admin) }
    const load: Load = { port, connections, count, secret: signingSecret, responseUrl: `${outsideUrl}/answer` }
    const acknowledged = await exchange<Acknowledged>(generator, load)
    // Work after the last acknowledgement counts as well.
    await delay(quick ? 200 : 500)
    return {
      ...acknowledged,
      wallMs: acknowledged.wallMs / count,
      cpuMs: ((cpuSeconds(program.pid) - before.cpu) * 1_000) / count,
      redisCommands: ((await redisCommands(admin)) - before.commands) / count,
    }
  }

  try {
    await interleave(variants, 1, measure)
    return describe(await interleave(variants, rounds, measure), count)
  } finally {
    for (const { program } of running) program.stop()
    generator.disconnect()
    outside.stop()
    admin.disconnect()
    await redis.stop()
    clearInterval(alive)
  }
}

function describe(figures: Record<Variant, Figures[]>, count: number): string {
  const rows = variants.map((variant) => {
    const of = (figure: (figures: Figures) => number) => ratio(figures[variant], figures[base], figure)
    const cpu = of(({ cpuMs }) => cpuMs)
    return [
      variant,
      fixed(median(figures[variant].map(({ cpuMs }) => cpuMs)), 3),
      fixed(cpu),
      ...judged(cpu, variant === measuredByTarget ? most : undefined),
      fixed(of(({ wallMs }) => wallMs)),
      fixed(of(({ p50 }) => p50)),
      fixed(of(({ p99 }) => p99)),
      fixed(median(figures[variant].map(({ redisCommands }) => redisCommands)), 1),
    ]
  })
  const head = ['', 'CPU ms', 'CPU', 'target', '', 'wall time', 'ack p50', 'ack p99', 'Redis commands']
  return `c = ${connections} (${count} commands a round)\n\n${table(head, rows)}`
}

/** Returns the number of executed commands, without those that read it. */
async function redisCommands(admin: Redis): Promise<number> {
  const stats = await admin.info('commandstats')
  return [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].reduce(
    (sum, [, name, calls]) => sum + (name === 'info' ? 0 : Number(calls)),
    0,
  )
}
