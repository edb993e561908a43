import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { fillCompileCache } from '../sandbox/compile-cache.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { Acknowledged, Load } from './acknowledge/load.ts'
import { botEnvironment, signingSecret } from './bot-environment.ts'
import { cpuSeconds, exchange, residentMb, startProgram } from './processes.ts'
import { recordMoves } from './record-moves.ts'

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The options of Node in the image. */
const asInTheImage = {
  nodeOptions: ['--max-semi-space-size=4', '--max-old-space-size=1536'],
  env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' },
}

export interface Followed {
  lists: number
  gets: number
  redisCommands: number
  botCpuSeconds: number
  redisCpuSeconds: number
  /** The time from the end of a move to its report, in ms. */
  reportedP50: number
  reportedP99: number
  reported: number
  /** The peak of the bot's resident memory, in MB. */
  memoryMb: number
  /** Acknowledgements of commands that were sent meanwhile, in ms. */
  acknowledged: Acknowledged | undefined
}

export type Follower = 'bot' | 'job per move'

export interface FollowOptions {
  count: number
  intervalMs: number
  /** Moves end evenly between half and one and a half of this time. The measurement lasts from the start until all are reported. */
  meanMs?: number
  /** Instead: no move ends, and the measurement lasts this long, after two intervals to settle. */
  lastingMs?: number
  /** The number of commands, one every 20 ms, sent once moves end or the bot has settled. Only for the bot. */
  commands?: number
}

/** Tracks this many moves with the bot, or with one job for each, and measures what it costs. */
export async function follow(how: Follower, options: FollowOptions): Promise<Followed> {
  const { count, intervalMs, meanMs = 60_000, lastingMs, commands } = options
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const server = await startRedis({ appendonly: true })
  const admin = new Redis(server.url)
  const outside = fork(place('./outside.ts'), [JSON.stringify({ count, meanMs: lastingMs === undefined ? meanMs : 86_400_000 })])
  const [places] = (await once(outside, 'message')) as [Places]
  const query = (message: string) => queryOutside(outside, message)
  if (how === 'bot') await recordMoves(admin, prefix, count)

  await query('begin')
  let before = await measureRedis(admin)
  const follower =
    how === 'bot' ? await startBot(server.url, places, intervalMs) : await startJobs(server.url, places, { count, intervalMs })
  let acknowledging: Promise<Acknowledged> | undefined
  if (lastingMs !== undefined) {
    await delay(2 * intervalMs)
    before = await measureRedis(admin)
  }
  if (commands !== undefined) acknowledging = sendCommands(follower.slackPort, places, commands, lastingMs === undefined ? meanMs / 2 : 0)
  const countsBefore = (await query('status')).counts
  const cpuBefore = cpuSeconds(follower.pid)
  let memoryMb = 0
  const deadline = Date.now() + (lastingMs ?? meanMs * 1.5 + 60_000)
  for (let reported = 0; (lastingMs !== undefined || reported < count) && Date.now() < deadline; ) {
    await delay(500)
    memoryMb = Math.max(memoryMb, residentMb(follower.pid))
    reported = (await query('status')).reported
  }
  const acknowledged = await acknowledging
  const after = await measureRedis(admin)
  const { counts, reportedAfterMs } = await query('end')
  const botCpuSeconds = cpuSeconds(follower.pid) - cpuBefore
  follower.stop()
  outside.disconnect()
  admin.disconnect()
  await server.stop()
  clearInterval(alive)

  const sorted = reportedAfterMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    lists: (counts.lists ?? 0) - (countsBefore.lists ?? 0),
    gets: (counts.gets ?? 0) - (countsBefore.gets ?? 0),
    redisCommands: after.commands - before.commands,
    botCpuSeconds,
    redisCpuSeconds: after.cpu - before.cpu,
    reportedP50: at(0.5),
    reportedP99: at(0.99),
    reported: sorted.length,
    memoryMb,
    acknowledged,
  }
}

const prefix = 'bench'

/** The addresses of the stand-ins. */
interface Places {
  account: string
  slack: string
}

interface Seen {
  counts: Record<string, number>
  reportedAfterMs: number[]
  reported: number
}

async function queryOutside(outside: ReturnType<typeof fork>, message: string): Promise<Seen> {
  outside.send(message)
  return ((await once(outside, 'message')) as [Seen])[0]
}

async function startBot(redisUrl: string, { account, slack }: Places, intervalMs: number) {
  const env = {
    ...botEnvironment({ outsideUrl: account, redisUrl, prefix }),
    SLACK_API_URL: slack,
    MOVE_POLL_INTERVAL: `${intervalMs}ms`,
    NODE_COMPILE_CACHE: await mkdtemp(join(tmpdir(), 'lockkeeper-compile-cache-')),
    ...asInTheImage.env,
  }
  const main = place('../../src/main.ts')
  await fillCompileCache(main, env.NODE_COMPILE_CACHE)
  const program = await startProgram(main, 'slackPort', { env, nodeOptions: asInTheImage.nodeOptions })
  const stop = () => {
    program.stop()
    rmSync(env.NODE_COMPILE_CACHE, { recursive: true, force: true })
  }
  return { pid: program.pid, slackPort: JSON.parse(program.line).slackPort as number, stop }
}

async function startJobs(redisUrl: string, places: Places, moves: { count: number; intervalMs: number }) {
  const child = fork(place('./job-per-move.ts'), [JSON.stringify({ redisUrl, ...places, ...moves })])
  await once(child, 'message')
  child.send('begin')
  await once(child, 'message')
  return { pid: child.pid ?? 0, slackPort: 0, stop: () => void child.kill('SIGKILL') }
}

async function sendCommands(port: number, { slack }: Places, count: number, afterMs: number): Promise<Acknowledged> {
  await delay(afterMs)
  const generator = fork(place('./acknowledge/load.ts'))
  const load: Load = {
    port,
    connections: 1,
    count,
    everyMs: 20,
    text: 'help',
    secret: signingSecret,
    responseUrl: new URL('/answer', slack).href,
  }
  return exchange<Acknowledged>(generator, load).finally(() => generator.disconnect())
}

async function measureRedis(admin: Redis): Promise<{ commands: number; cpu: number }> {
  const info = `${await admin.info('stats')}${await admin.info('cpu')}`
  const read = (name: string) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? 0)
  return { commands: read('total_commands_processed'), cpu: read('used_cpu_sys') + read('used_cpu_user') }
}
