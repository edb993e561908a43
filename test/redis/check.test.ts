import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { AwayError, StartError, StoreUnavailableError, type WriteRefusal, writeRefusalOf } from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/signing.ts'
import { closeRedis, connectRedis, guardStore, holdCommands } from '../../src/redis/connect.ts'
import { createRedisCheck, createRedisConnections, findRedisFaults, probeWrites, startProblem } from '../../src/redis/connections.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'

const safeInfo = '# Server\r\nredis_version:7.4.2\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n'

const wordsOf = (...infos: string[]) => findRedisFaults(infos).map(({ words }) => words)

test('finds each fault of a Redis that could lose requests', () => {
  const bad = safeInfo.replace('7.4.2', '6.2.1').replace('noeviction', 'allkeys-lru').replace('aof_enabled:1', 'aof_enabled:0')
  expect(wordsOf(bad)).toMatchInlineSnapshot(`
    [
      "Redis has version 6.2.1. Update it to 7 or newer.",
      "Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru). Set it to noeviction.",
      "Redis doesn't write changes to disk (appendonly no). Set appendonly yes.",
    ]
  `)
})

test('finds the faults of every primary of a Cluster, and names each kind once', () => {
  const evicts = safeInfo.replace('noeviction', 'allkeys-lru')

  expect(findRedisFaults([safeInfo, evicts, evicts]).map(({ code }) => code)).toEqual(['evicts'])
})

/** Creates the check over a Redis whose answer the test controls. `sent` counts the INFO commands. */
function arrange({
  problem,
  allowVolatile = false,
  probe = async () => undefined,
}: {
  problem?: string
  allowVolatile?: boolean
  probe?: () => Promise<WriteRefusal | undefined>
} = {}) {
  const answers = Promise.withResolvers<string>()
  const warnings: string[] = []
  let sent = 0
  const info = () => {
    sent += 1
    return answers.promise
  }
  const check = createRedisCheck({
    redis: { info, options: {} } as unknown as Redis,
    probe,
    allowVolatile,
    prefix: 'lockkeeper-eu',
    problem: () => problem,
    warn: (fault) => warnings.push(fault),
    attemptMs: 10,
  })
  const outcome = () => check().catch((error: unknown) => error)
  return { answers, warnings, sent: () => sent, outcome }
}

describe('a Redis that does not answer', () => {
  test('throws AwayError with the problem of the connection', async () => {
    const error = await arrange({ problem: 'ECONNREFUSED' }).outcome()

    expect(error).toBeInstanceOf(AwayError)
    expect((error as Error).message).toMatch(/^Redis isn't responding at REDIS_URL \(ECONNREFUSED\)\. Check /)
  })

  test.each(['SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'says how to trust its certificate after %s',
    async (problem) => {
      const { message } = (await arrange({ problem }).outcome()) as AwayError

      expect(message).toBe(
        `Lockkeeper doesn't trust the TLS certificate of Redis (${problem}). Check the hostname in REDIS_URL and the clock of this machine. For your own certificate authority, set NODE_EXTRA_CA_CERTS in the environment of the process: Node doesn't read it from .env.`,
      )
    },
  )

  test('gets one INFO command for several attempts, and is checked by its answer', async () => {
    const { answers, sent, outcome } = arrange()
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await outcome()).toBeInstanceOf(AwayError)

    const last = outcome()
    answers.resolve(safeInfo)

    expect(await last).toBeUndefined()
    expect(sent()).toBe(1)
  })
})

describe('a Redis that rejects the user', () => {
  test.each(['WRONGPASS', 'NOAUTH'])('throws StartError for a connection that failed with %s', async (problem) => {
    const error = await arrange({ problem }).outcome()

    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).toBe(`Redis rejects the user or the password in REDIS_URL (${problem}). Correct them and restart.`)
  })

  test('throws StartError for an answer with NOPERM, without the rest of the answer', async () => {
    const { answers, outcome } = arrange()
    answers.reject(new Error("NOPERM User hunter2 has no permissions to run the 'info' command"))

    expect(String(await outcome())).toBe(
      'StartError: The user in REDIS_URL has no right to run the command info (NOPERM). Give it all rights in deploy/redis/users.acl. Then restart.',
    )
  })

  test('throws StartError if the user has no right to use the keys', async () => {
    const lacksKeys = new StoreUnavailableError('Redis: ReplyError NOPERM No permissions to access a key', 'NOPERM')
    const { answers, outcome } = arrange({ probe: () => Promise.reject(lacksKeys) })
    answers.resolve(safeInfo)

    expect(String(await outcome())).toBe(
      'StartError: The user in REDIS_URL has no right to use the keys {lockkeeper-eu}:*, or what a script needs (NOPERM). Give it all rights in deploy/redis/users.acl. Then restart.',
    )
  })
})

/** Connections to the Redis of the tests, which loses its data. */
function connect(path = '') {
  const config = { redis: { url: new Secret(`${inject('redisUrl')}${path}`), prefix: 'check', allowVolatile: true } } as Config
  const connections = createRedisConnections(config, { log: { warn: () => {} }, lines: { write: () => {}, end: () => {} } as never })
  onTestFinished(connections.close)
  return connections
}

test('throws StartError for a database that Redis does not have', async () => {
  expect(
    String(
      await connect('/99')
        .reach()
        .catch((error: unknown) => error),
    ),
  ).toBe("StartError: REDIS_URL ends with the number of a database that Redis doesn't have. Remove the number.")
})

test('Redis is reached once the connection for people is ready, too, because that refuses commands before', async () => {
  const { patient, prompt, reach } = connect()
  await expect.poll(() => [patient.status, prompt.status]).toEqual(['ready', 'ready'])
  const closed = once(prompt, 'close')
  prompt.disconnect(true)
  await closed

  await reach()

  expect(await prompt.exists('nothing')).toBe(0)
})

test('a Redis that could lose requests causes a StartError, or a warning if ALLOW_VOLATILE_REDIS is set', async () => {
  const volatile = safeInfo.replace('aof_enabled:1', 'aof_enabled:0')
  const [strict, lenient] = [arrange(), arrange({ allowVolatile: true })]
  for (const { answers } of [strict, lenient]) answers.resolve(volatile)

  expect(await strict.outcome()).toBeInstanceOf(StartError)
  expect(await lenient.outcome()).toBeUndefined()
  expect(lenient.warnings).toEqual(["Redis doesn't write changes to disk (appendonly no). Set appendonly yes."])
})

describe('a Redis that refuses writes', () => {
  test.each([
    ['OOM', 'Redis refuses writes, because its memory is full (OOM). Raise maxmemory, or remove data that other programs store there.'],
    ['MISCONF', "Redis refuses writes, because it can't write to its disk (MISCONF). Free space on its disk, and read its log."],
  ])('causes an AwayError at the start: %s', async (code, words) => {
    const { answers, outcome } = arrange({ probe: async () => writeRefusalOf(code) })
    answers.resolve(safeInfo)

    const error = await outcome()

    expect(error).toBeInstanceOf(AwayError)
    expect(error).toMatchObject({ message: words, refusal: { code } })
  })

  test('and does so in a later command of the start is away, too, and so is one that loads its data', () => {
    expect(startProblem(new StoreUnavailableError('Redis: ReplyError OOM', 'OOM'), { prefix: 'lockkeeper' })).toBeInstanceOf(AwayError)
    expect(startProblem(new StoreUnavailableError('Redis: ReplyError LOADING', 'LOADING'), { prefix: 'lockkeeper' })).toMatchObject({
      name: 'AwayError',
      message: expect.stringContaining('(LOADING)'),
    })
  })
})

test('the probe of a real Redis finds a full memory and a disk that takes no data, and writes nothing', async () => {
  const server = await startRedis({ settings: ['save 3600 1'] })
  const redis = new Redis(server.url)
  onTestFinished(async () => {
    redis.disconnect()
    // Redis doesn't end on SIGTERM if it can't save.
    await server.kill()
    await server.stop()
  })
  const probe = () => probeWrites(redis, createKeys('probed'))

  expect(await probe()).toBeUndefined()
  await redis.config('SET', 'maxmemory', '100kb')
  expect(await probe()).toMatchObject({ code: 'OOM' })
  await redis.config('SET', 'maxmemory', '0')
  expect(await probe()).toBeUndefined()
  // A folder of this name makes the next save fail.
  await mkdir(join(server.folder, 'dump.rdb'))
  await redis.bgsave()
  await expect.poll(probe).toMatchObject({ code: 'MISCONF' })
  expect(await redis.dbsize()).toBe(0)
})

test('the commands of one turn of the event loop leave the connection for people in one write, and in their order', async () => {
  const redis = connectRedis(new Secret(inject('redisUrl')), 'prompt', () => {})
  onTestFinished(() => closeRedis(redis))
  await expect.poll(() => redis.status).toBe('ready')
  const key = `test-${randomBytes(6).toString('hex')}`
  const one = vi.spyOn(redis.stream, '_write')
  const several = vi.spyOn(redis.stream as Required<Writable>, '_writev')
  const set = (value: number) => redis.set(key, value, 'PX', 60_000, 'GET')

  // Each in a callback of its own, as the requests of several connections are.
  const first = set(1)
  const others = Promise.all([2, 3].map((value) => new Promise<string | null>((done) => process.nextTick(() => done(set(value))))))

  expect([await first, ...(await others)]).toEqual([null, '1', '2'])
  expect([one.mock.calls.length, several.mock.calls.length]).toEqual([0, 1])
  expect(await redis.getdel(key)).toBe('3')
})

describe('commands that are held', () => {
  /** Opens a prompt connection whose commands are held, and another connection that reads what the first has written. */
  async function connectHeld() {
    const url = new Secret(inject('redisUrl'))
    const held = connectRedis(url, 'prompt', () => {})
    let refusal: string | undefined
    const release = holdCommands(held, () => refusal)
    const refuseWith = (code: string) => {
      refusal = code
    }
    const other = connectRedis(url, 'patient', () => {})
    const key = `test-${randomBytes(6).toString('hex')}`
    onTestFinished(async () => void (await Promise.all([closeRedis(held), closeRedis(other)])))
    await expect.poll(() => held.status).toBe('ready')
    return { held, release, refuseWith, other, key }
  }

  test('a held connection answers PING, and rejects every command that reads or writes', async () => {
    const { held, release, other, key } = await connectHeld()

    expect(await held.ping()).toBe('PONG')
    await expect(held.set(key, '1')).rejects.toThrow('not been checked')
    await expect(held.get(key)).rejects.toThrow('not been checked')
    await expect(held.eval('return redis.call("set", KEYS[1], "1")', 1, key)).rejects.toThrow('not been checked')
    const together = await held.multi().set(key, '1').exec().catch(String)
    expect(String(together)).toContain('not been checked')
    expect(await other.get(key)).toBeNull()

    release()

    expect(await held.set(key, '1', 'EX', 60)).toBe('OK')
    expect(await held.multi().get(key).exec()).toEqual([[null, '1']])
  })

  test('a held connection rejects every command with the code of the refusal that the check found', async () => {
    const { held, refuseWith, key } = await connectHeld()
    await expect(guardStore(() => held.get(key))).rejects.toMatchObject({ name: 'StoreUnavailableError', code: undefined })

    refuseWith('OOM')

    await expect(guardStore(() => held.get(key))).rejects.toMatchObject({ name: 'StoreUnavailableError', code: 'OOM' })
    await expect(guardStore(() => held.multi().get(key).exec())).rejects.toMatchObject({ name: 'StoreUnavailableError', code: 'OOM' })
  })
})
