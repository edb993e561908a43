import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { createKeys } from '../../src/changes/keys.ts'
import { createStore } from '../../src/changes/store.ts'
import { payloadHash } from '../../src/domain/payload.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'

const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** How the Dockerfile starts Node. */
const asInTheImage = { execArgv: ['--max-semi-space-size=4'], env: { MALLOC_ARENA_MAX: '2' } }

export interface Followed {
  lists: number
  gets: number
  redisCommands: number
  botCpuSeconds: number
  redisCpuSeconds: number
  /** After the end of the move, in ms. */
  toldP50: number
  toldP99: number
  told: number
  /** Resident memory of the bot at its most, in MB. */
  memoryMb: number
}

export interface FollowOptions {
  count: number
  intervalMs: number
  /** Moves end evenly between half of it and one and a half of it, and the measure is taken from the start until all are told. */
  meanMs?: number
  /** Instead: no move ends, and the measure is taken for so long, after two intervals to settle. */
  lastingMs?: number
}

export type Follower = 'bot' | 'job per move'

/** Follows so many moves with the bot, or with one job for each, and measures what it costs. */
export async function follow(how: Follower, { count, intervalMs, meanMs = 60_000, lastingMs }: FollowOptions): Promise<Followed> {
  // Redis does not keep this process by itself.
  const alive = setInterval(() => {}, 1_000)
  const server = await startRedis({ appendonly: true })
  const admin = new Redis(server.url)
  const outside = fork(program('./outside.ts'), [JSON.stringify({ count, meanMs: lastingMs === undefined ? meanMs : 86_400_000 })])
  const [places] = (await once(outside, 'message')) as [{ account: string; slack: string }]
  const asked = async (message: string) => {
    outside.send(message)
    return ((await once(outside, 'message')) as [{ counts: Record<string, number>; toldAfterMs: number[]; told: number }])[0]
  }
  const prefix = 'bench'
  if (how === 'bot') await record(admin, prefix, count)

  await asked('begin')
  let before = await measureRedis(admin)
  const follower =
    how === 'bot' ? await startBot(server.url, prefix, places, intervalMs) : await startJobs(server.url, places, count, intervalMs)
  if (lastingMs !== undefined) await delay(2 * intervalMs)
  if (lastingMs !== undefined) before = await measureRedis(admin)
  const countsBefore = (await asked('look')).counts
  const cpuBefore = cpuSeconds(follower.pid)
  let memoryMb = 0
  const deadline = Date.now() + (lastingMs ?? meanMs * 1.5 + 60_000)
  for (let told = 0; told < count && Date.now() < deadline; ) {
    await delay(500)
    memoryMb = Math.max(memoryMb, residentMb(follower.pid))
    told = (await asked('look')).told
  }
  const after = await measureRedis(admin)
  const { counts, toldAfterMs } = await asked('end')
  const botCpuSeconds = cpuSeconds(follower.pid) - cpuBefore
  follower.stop()
  outside.disconnect()
  admin.disconnect()
  await server.stop()
  clearInterval(alive)

  const sorted = toldAfterMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    lists: (counts.lists ?? 0) - (countsBefore.lists ?? 0),
    gets: (counts.gets ?? 0) - (countsBefore.gets ?? 0),
    redisCommands: after.commands - before.commands,
    botCpuSeconds,
    redisCpuSeconds: after.cpu - before.cpu,
    toldP50: at(0.5),
    toldP99: at(0.99),
    told: sorted.length,
    memoryMb,
  }
}

/** As many requests, approved, accepted and under way. */
async function record(redis: Redis, prefix: string, count: number): Promise<void> {
  const store = createStore({ redis, keys: createKeys(prefix), audit: { encode: () => '{"act":"bench"}', kick: () => {} } })
  const origin = { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' }
  const one = async (index: number) => {
    const id = String(index).padStart(32, '0')
    const elasticIpId = `eip_${String(index).padStart(6, '0')}`
    const address = `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`
    const facts = { elasticIpId, address, from: { id: 'sv_from', name: 'web-1' }, to: { id: 'sv_to', name: 'web-2' } }
    const asked = {
      id,
      kind: 'ip.move' as const,
      input: { elasticIpId, serverId: 'sv_to' },
      facts,
      resource: `elastic_ip:${elasticIpId}`,
      unchecked: [],
      origin,
    }
    await store.create({
      ...asked,
      sentence: `Move ${address}`,
      hash: payloadHash(asked),
      rule: 'APPROVERS',
      needsApproval: true,
      ttlMs: 3_600_000,
    })
    const request = await store.find(id)
    if (!request) throw new Error('not recorded')
    await store.transition(request, { name: 'approve', from: ['waiting'], to: 'approved' })
    await store.transition(request, { name: 'send', from: ['approved'], to: 'starting', stamp: ['sentAt'] })
    await store.transition(request, { name: 'accept', from: ['starting'], to: 'following', stamp: ['acceptedAt'], dueInMs: 0 })
    // As if its card had been posted, and showed this.
    const keys = createKeys(prefix)
    await redis.hset(
      keys.record(id),
      'cardTs',
      JSON.stringify(`1.${index}`),
      'cardRevision',
      '4',
      'outbox:card',
      JSON.stringify({ status: 'settled', token: 'bench' }),
    )
    await redis.zrem(keys.outbox, `${id}/card`)
  }
  for (let at = 0; at < count; at += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - at) }, (_, index) => one(at + index)))
  await redis.del(createKeys(prefix).auditIntake)
}

async function startBot(redisUrl: string, prefix: string, places: { account: string; slack: string }, intervalMs: number) {
  const env = {
    SLACK_BOT_TOKEN: 'xoxb-bench',
    SLACK_SIGNING_SECRET: 'bench-bench-bench',
    SLACK_API_URL: places.slack,
    INFRA_API_URL: places.account,
    INFRA_API_KEY: 'bench-key-of-nobody',
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    APPROVERS: 'U0BEN00001',
    ROLE: 'worker',
    OPS_PORT: '0',
    MOVE_POLL_INTERVAL: `${intervalMs}ms`,
    LOG_LEVEL: 'error',
    ...asInTheImage.env,
  }
  const { execArgv } = asInTheImage
  const child = fork(program('../../src/main.ts'), { env, execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return { pid: child.pid ?? 0, stop: () => void child.kill('SIGKILL') }
}

async function startJobs(redisUrl: string, places: { account: string; slack: string }, count: number, intervalMs: number) {
  const child = fork(program('./job-per-move.ts'), [JSON.stringify({ redisUrl, ...places, count, intervalMs })])
  await once(child, 'message')
  child.send('begin')
  await once(child, 'message')
  return { pid: child.pid ?? 0, stop: () => void child.kill('SIGKILL') }
}

async function measureRedis(admin: Redis): Promise<{ commands: number; cpu: number }> {
  const info = `${await admin.info('stats')}${await admin.info('cpu')}`
  const read = (name: string) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? 0)
  return { commands: read('total_commands_processed'), cpu: read('used_cpu_sys') + read('used_cpu_user') }
}

/** Linux counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}
