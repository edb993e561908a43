import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { createRedisWatch } from '../../src/life/self-checks.ts'
import { findRedisFaults, probeWrites, type RedisFault, readInfos, refusalFault } from '../../src/redis/connections.ts'
import { createKeys, type Keys } from '../../src/redis/key-names.ts'
import { fakeApp } from '../fake-app.ts'
import { outboxApp } from '../given/outbox-app.ts'
import { connectTestRedis, startOwnRedis } from '../given/redis.ts'

const evicts: RedisFault = {
  code: 'evicts',
  words: 'Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru). Set it to noeviction.',
}
const volatile: RedisFault = { code: 'not-on-disk', words: "Redis doesn't write changes to disk (appendonly no). Set appendonly yes." }

/** A process that watches Redis and posts to the operators. `faults` are what it finds, unless it reads them itself. */
function startProcess(
  { redis, keys }: { redis: Redis; keys: Keys },
  findFaults?: () => Promise<RedisFault[]>,
  { calmMs = 0, dies = false }: { dies?: boolean; calmMs?: number } = {},
) {
  const faults: RedisFault[] = []
  const log: string[] = []
  const counts: number[] = []
  const write = (level: string) => (fields: object, text: string) => void log.push(`${level} ${JSON.stringify(fields)} ${text}`)
  const { app, texts, settle, sweep } = outboxApp({ redis, keys }, { write })
  const watched = fakeApp({
    ...app,
    connections: { ...app.connections, faultsToReport: findFaults ?? (async () => [...faults]) },
    lines: dies ? { write: () => expect.fail('died') } : app.lines,
    log: { info: write('info') as never, warn: write('warn') as never, error: write('error') as never },
    metrics: { redisFaults: (found) => void counts.push(found.length) },
  })
  const watch = createRedisWatch(watched, { calmMs })
  const check = () => watch.check().finally(settle)
  const posts = () => texts.map((text) => text.replace(/ More: .*/, ''))
  return { check, sweep, faults, posts, log, counts }
}

const begins = (...faults: RedisFault[]) =>
  `:rotating_light: *Redis could lose requests and approvals.* ${faults.map(({ words }) => words).join(' ')}`
const ends = ':white_check_mark: *Redis keeps requests safe again.*'

describe('the operators', () => {
  test('are notified when the eviction policy of a real Redis changes, and when it is mended', async () => {
    const { redis } = await startOwnRedis({ appendonly: true })
    const one = startProcess({ redis, keys: createKeys('watched') }, async () => findRedisFaults(await readInfos(redis)))

    await one.check()
    expect(one.posts()).toEqual([])
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    for (let check = 0; check < 3; check += 1) await one.check()
    expect(one.posts()).toEqual([begins(evicts)])
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
    for (let check = 0; check < 3; check += 1) await one.check()

    expect(one.posts()).toEqual([begins(evicts), ends])
    expect(one.log).toEqual([`error {"code":"redis-unsafe"} ${begins(evicts)}`, `info {"code":"redis-unsafe"} ${ends}`])
    expect(one.counts).toEqual([0, 1, 1, 1, 0, 0, 0])
  })

  test('are notified of each change, even within an hour', async () => {
    const one = startProcess(connectTestRedis())

    for (const found of [[evicts], [evicts, volatile], [], [evicts]]) {
      one.faults.splice(0, Infinity, ...found)
      await one.check()
    }

    expect(one.posts()).toEqual([begins(evicts), begins(evicts, volatile), ends, begins(evicts)])
  })

  test('are notified once by all processes together', async () => {
    const shared = connectTestRedis()
    const processes = [startProcess(shared), startProcess(shared)]
    const checkAll = async () => {
      for (const { check } of processes) await check()
    }

    for (const { faults } of processes) faults.push(evicts)
    await checkAll()
    for (const { faults } of processes) faults.length = 0
    await checkAll()

    expect(processes.flatMap(({ posts }) => posts())).toEqual([begins(evicts), ends])
    expect(processes[1]?.log).toEqual([`warn {"code":"redis-unsafe"} ${begins(evicts)}`])
  })

  test('are notified of the end by a process that started after the fault was mended', async () => {
    const shared = connectTestRedis()
    const ended = startProcess(shared)
    ended.faults.push(evicts)
    await ended.check()

    const next = startProcess(shared)
    await next.check()

    expect(next.posts()).toEqual([ends])
  })

  test('are notified of a fault before they are notified of its end, if the process that found the fault died', async () => {
    const shared = connectTestRedis()
    const dead = startProcess(shared, undefined, { dies: true })
    dead.faults.push(evicts)
    await expect(dead.check()).rejects.toThrow('died')
    const next = startProcess(shared)

    await next.check()

    expect(next.posts()).toEqual([begins(evicts), ends])
  })
})

describe('a Redis that refuses writes', () => {
  const begins =
    ':rotating_light: *Redis stores nothing, so nothing can be requested, approved or tracked.* Redis refuses writes, because its memory is full (OOM). Raise maxmemory, or remove data that other programs store there.'

  async function startFullRedis() {
    const { redis } = await startOwnRedis({ appendonly: true })
    const keys = createKeys('watched')
    const find = async () => {
      const refusal = await probeWrites(redis, keys)
      return [...findRedisFaults(await readInfos(redis)), ...(refusal ? [refusalFault(refusal)] : [])]
    }
    const start = (instead?: Parameters<typeof startProcess>[2]) => startProcess({ redis, keys }, find, instead)
    return { redis, start, limit: (bytes: string) => redis.config('SET', 'maxmemory', bytes) }
  }

  test('is reported to the operators although it cannot keep their notice, and its end once by all processes', async () => {
    const { start, limit } = await startFullRedis()
    const [one, other] = [start(), start()]
    const checkAll = async () => {
      for (const { check } of [one, other, one, other]) await check()
    }
    await checkAll()

    for (let time = 0; time < 2; time += 1) {
      await limit('100kb')
      await checkAll()
      await limit('0')
      await checkAll()
    }

    expect(one.posts()).toEqual([begins, ends, begins, ends])
    expect(other.posts()).toEqual([begins, begins])
  })

  test('is reported again only after it has taken writes for a while', async () => {
    const { start, limit } = await startFullRedis()
    const one = start({ calmMs: 60_000 })

    for (const bytes of ['100kb', '0', '100kb', '0']) {
      await limit(bytes)
      await one.check()
    }

    expect(one.posts()).toEqual([begins])
  })
})
