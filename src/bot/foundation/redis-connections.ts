import type { Config } from '../../config/config.ts'
import { type Log, throttled } from '../../ops/log/log.ts'
import { createRedisCheck, findRedisFaults } from '../../redis/check.ts'
import { closeRedis, connectRedis, guardStore, holdCommands } from '../../redis/connect.ts'
import { createKeys } from '../../redis/key-names.ts'

/**
 * Opens both connections to Redis. People use the `prompt` one, which fails within a second. Jobs use the `patient` one, which waits until
 * Redis is back.
 */
export function createRedisConnections({ redis: { url, prefix, allowVolatile } }: Config, log: Pick<Log, 'warn'>) {
  const problems = createProblems(log)
  const prompt = connectRedis(url, 'prompt', problems.note)
  const patient = connectRedis(url, 'patient', problems.note)
  const releaseCommands = holdCommands(prompt)
  const check = createRedisCheck({
    redis: patient,
    allowVolatile,
    problem: problems.latest,
    warn: (fault) => log.warn({ code: 'redis-unsafe' }, fault),
  })

  /** Checks that this Redis keeps requests safe, and then lets the commands of people through. Throws as the check does. */
  async function reach(): Promise<void> {
    await check()
    problems.logFromNowOn()
    releaseCommands()
  }

  /** Returns the settings with which this Redis could lose requests, a sentence for each. */
  async function faults(): Promise<string[]> {
    return findRedisFaults(await guardStore(() => prompt.info()))
  }

  async function close(): Promise<void> {
    await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
  }

  return { keys: createKeys(prefix), prompt, patient, reach, faults, close }
}
export type RedisConnections = ReturnType<typeof createRedisConnections>

/**
 * Keeps the latest problem of the connections, as a code. Logs nothing until the check has passed, because each failed attempt to start
 * writes its own log line.
 */
function createProblems(log: Pick<Log, 'warn'>) {
  let latest: string | undefined
  let isLogged = false
  const warn = throttled(() => log.warn({ code: 'redis-not-responding', problem: latest }, "Redis isn't responding"))

  function note(problem: string): void {
    latest = problem
    if (isLogged) warn(undefined)
  }

  function logFromNowOn(): void {
    isLogged = true
  }

  return { note, latest: () => latest, logFromNowOn }
}
