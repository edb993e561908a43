import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { AwayError, StartError, StoreUnavailableError, type WriteRefusal, writeRefusalOf } from '../../src/domain/errors.ts'
import { createRedisCheck, findRedisFaults, startProblem } from '../../src/redis/check.ts'

const safeInfo = '# Server\r\nredis_version:7.4.2\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n'

const wordsOf = (...infos: string[]) => findRedisFaults(infos).map(({ words }) => words)

test('finds no faults in a Redis that keeps everything', () => {
  expect(wordsOf(safeInfo)).toEqual([])
})

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

test('accepts a Valkey by its compatible Redis version, and finds its faults too', () => {
  const valkey = safeInfo.replace('redis_version:7.4.2', 'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1')

  expect(wordsOf(valkey)).toEqual([])
  expect(wordsOf(valkey.replace('noeviction', 'volatile-ttl'))).toEqual([
    'Redis evicts keys when its memory is full (maxmemory-policy volatile-ttl). Set it to noeviction.',
  ])
})

test('finds the faults of every primary of a Cluster, and names each kind once', () => {
  const evicts = safeInfo.replace('noeviction', 'allkeys-lru')

  expect(findRedisFaults([safeInfo, evicts, evicts]).map(({ code }) => code)).toEqual(['evicts'])
})

test('finds no fault in settings that INFO does not show', () => {
  expect(wordsOf('redis_version:8.0.0\r\n')).toEqual([])
})

/** Creates the check over a Redis whose answer the test controls. `sent` counts the INFO commands. */
function arrange({
  problem,
  allowVolatile = false,
  probeWrites = async () => undefined,
}: {
  problem?: string
  allowVolatile?: boolean
  probeWrites?: () => Promise<WriteRefusal | undefined>
} = {}) {
  const answers = Promise.withResolvers<string>()
  const warnings: string[] = []
  let sent = 0
  const info = () => {
    sent += 1
    return answers.promise
  }
  const check = createRedisCheck({
    redis: { info } as unknown as Redis,
    probeWrites,
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

  test('throws AwayError while Redis loads its data', async () => {
    const { answers, outcome } = arrange()
    answers.resolve(`${safeInfo}loading:1\r\n`)

    expect(await outcome()).toMatchObject({ name: 'AwayError', message: expect.stringContaining('(LOADING)') })
  })

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
      'StartError: The user in REDIS_URL has no right to run the command info (NOPERM). Give it +info, or all rights in deploy/redis/users.acl. Then restart.',
    )
  })

  test('throws StartError if the user has no right to use the keys', async () => {
    const lacksKeys = new StoreUnavailableError('Redis: ReplyError NOPERM No permissions to access a key', 'NOPERM')
    const { answers, outcome } = arrange({ probeWrites: () => Promise.reject(lacksKeys) })
    answers.resolve(safeInfo)

    expect(String(await outcome())).toBe(
      'StartError: The user in REDIS_URL has no right to use the keys of REDIS_PREFIX (NOPERM). Give it ~{lockkeeper-eu}:*, or correct REDIS_PREFIX. Then restart.',
    )
  })

  test('throws StartError if a script may not run a command that Redis does not name', async () => {
    const { answers, outcome } = arrange()
    answers.reject(new Error("NOPERM The user executing the script can't run this command or subcommand"))

    expect(String(await outcome())).toBe(
      'StartError: The user in REDIS_URL has no right to run a command that Lockkeeper needs (NOPERM). Give it all rights in deploy/redis/users.acl. Then restart.',
    )
  })

  test('throws only AwayError when the connection closes', async () => {
    const { answers, outcome } = arrange()
    answers.reject(new Error('Connection is closed.'))

    expect(await outcome()).toBeInstanceOf(AwayError)
  })
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
    const { answers, outcome } = arrange({ probeWrites: async () => writeRefusalOf(code) })
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

  test('is waited for if it does not answer the probe', async () => {
    const { answers, outcome } = arrange({ probeWrites: () => new Promise(() => {}) })
    answers.resolve(safeInfo)

    expect(await outcome()).toMatchObject({ name: 'AwayError', message: expect.stringContaining('(no answer)') })
  })
})
