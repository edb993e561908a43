import type { Config } from '../config/config.ts'
import type { WriteRefusal } from '../domain/errors.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'
import {
  createRedisCheck,
  createWriteProbe,
  findRedisFaults,
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
  const problems = createProblems(lines)
  const prompt = connectRedis(url, 'prompt', problems.note)
  const patient = connectRedis(url, 'patient', problems.note)
  const connections = [prompt, patient]
  for (const each of connections) each.on('ready', () => connections.every(({ status }) => status === 'ready') && problems.end())
  /** Why Redis refused writes in the last check of the start. */
  let refusal: WriteRefusal | undefined
  const releaseCommands = holdCommands(prompt, () => refusal?.code)
  const keys = createKeys(prefix)
  // Over the patient connection, because the prompt one is held until the start has checked Redis, which waits while Redis refuses writes.
  const probeWrites = createWriteProbe(patient, keys)
  const check = createRedisCheck({
    redis: patient,
    probeWrites,
    allowVolatile,
    prefix,
    problem: problems.latest,
    warn: (fault) => log.warn({ code: 'redis-unsafe' }, fault),
  })

  /** Checks that this Redis keeps requests safe, and then lets the commands of people through. Throws as the check does. */
  async function reach(): Promise<void> {
    await check().catch((error: unknown) => {
      refusal = error instanceof WritesRefused ? error.refusal : undefined
      throw error
    })
    problems.logFromNowOn()
    releaseCommands()
  }

  /** Returns the settings with which this Redis could lose requests. Throws StoreUnavailableError if it does not answer. */
  async function faults(): Promise<RedisFault[]> {
    return findRedisFaults(await guardStore(() => readInfos(prompt)))
  }

  /** Returns them for a process that warns of them. With ALLOW_VOLATILE_REDIS the operators accepted them, and the log warned about them at the start. */
  async function unacceptedFaults(): Promise<RedisFault[]> {
    return allowVolatile ? [] : faults()
  }

  /** Returns what a worker reports to the operators. Nobody can accept that Redis refuses writes. Throws StoreUnavailableError if it does not answer. */
  async function faultsToReport(): Promise<RedisFault[]> {
    const settings = await unacceptedFaults()
    const refusal = await probeWrites()
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
    unacceptedFaults,
    faultsToReport,
    probeWrites,
    startProblem: (error: unknown) => startProblem(error, { problem: problems.latest(), prefix }),
    problem: problems.latest,
    close,
  }
}
export type RedisConnections = ReturnType<typeof createRedisConnections>

/**
 * Keeps the latest problem of the connections, as a code. Logs nothing until the check has passed, because each failed attempt to start
 * writes its own log line.
 */
function createProblems(lines: RepeatedLines) {
  const code = 'redis-not-responding'
  let latest: string | undefined
  let isLogged = false

  function note(problem: string): void {
    latest = problem
    if (!isLogged) return
    lines.write({ fields: { code, problem }, text: "Redis isn't responding. The connection is tried again", over: 'Redis responds again' })
  }

  function logFromNowOn(): void {
    isLogged = true
  }

  /** Both connections work, so the latest problem explains no later one. */
  function end(): void {
    latest = undefined
    lines.end(code)
  }

  return { note, end, latest: () => latest, logFromNowOn }
}
