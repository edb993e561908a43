import type { Config } from '../config/config.ts'
import type { WriteRefusal } from '../domain/errors.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'
import {
  createRedisCheck,
  findRedisFaults,
  probeWrites,
  type RedisFault,
  readInfos,
  refusalFault,
  startProblem,
  WritesRefused,
} from './check.ts'
import { closeRedis, connectRedis, guardStore, holdCommands } from './connect.ts'
import { createKeys } from './key-names.ts'

/**
 * Opens both connections to Redis. People use the `prompt` one, which fails within a second. Jobs use the `patient` one, which waits until
 * Redis is back.
 */
export function createRedisConnections(
  { redis: { url, prefix, allowVolatile } }: Config,
  { log, lines }: { log: Pick<Log, 'warn'>; lines: RepeatedLines },
) {
  const code = 'redis-not-responding'
  /** The latest problem of the connections, as a code. */
  let latest: string | undefined
  /** Nothing is logged until the check has passed, because each failed attempt to start writes its own log line. */
  let isLogged = false

  function note(problem: string): void {
    latest = problem
    if (!isLogged) return
    lines.write({ fields: { code, problem }, text: "Redis isn't responding. The connection is tried again", over: 'Redis responds again' })
  }

  /** Once both connections work, the latest problem explains no later one. */
  function endIfReady(): void {
    if (!connections.every(({ status }) => status === 'ready')) return
    latest = undefined
    lines.end(code)
  }

  const prompt = connectRedis(url, 'prompt', note)
  const patient = connectRedis(url, 'patient', note)
  const connections = [prompt, patient]
  for (const each of connections) each.on('ready', endIfReady)
  /** Why Redis refused writes in the last check of the start. */
  let refusal: WriteRefusal | undefined
  const releaseCommands = holdCommands(prompt, () => refusal?.code)
  const keys = createKeys(prefix)
  // Over the patient connection, because the prompt one is held until the start has checked Redis, which waits while Redis refuses writes.
  const probe = () => probeWrites(patient, keys)
  const check = createRedisCheck({
    redis: patient,
    probe,
    allowVolatile,
    prefix,
    problem: () => latest,
    warn: (fault) => log.warn({ code: 'redis-unsafe' }, fault),
  })

  /** Checks that this Redis keeps requests safe, and then lets the commands of people through. Throws as the check does. */
  async function reach(): Promise<void> {
    await check().catch((error: unknown) => {
      refusal = error instanceof WritesRefused ? error.refusal : undefined
      throw error
    })
    isLogged = true
    releaseCommands()
  }

  /** Returns the settings with which this Redis could lose requests. Throws StoreUnavailableError if it does not answer. */
  async function faults(): Promise<RedisFault[]> {
    return findRedisFaults(await guardStore(() => readInfos(prompt)))
  }

  /**
   * Returns what a worker reports to the operators. With ALLOW_VOLATILE_REDIS they accepted the settings, and the log warned about them at the
   * start. Nobody can accept that Redis refuses writes. Throws StoreUnavailableError if it does not answer.
   */
  async function faultsToReport(): Promise<RedisFault[]> {
    const settings = allowVolatile ? [] : await faults()
    const refusal = await probe()
    return refusal ? [...settings, refusalFault(refusal)] : settings
  }

  async function close(): Promise<void> {
    await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
  }

  return {
    keys,
    prompt,
    patient,
    reach,
    faults,
    faultsToReport,
    probeWrites: probe,
    startProblem: (error: unknown) => startProblem(error, { problem: latest, prefix }),
    problem: () => latest,
    close,
  }
}
export type RedisConnections = ReturnType<typeof createRedisConnections>
