import type { Config } from '../config/config.ts'
import { readKeyProblem } from '../domain/account/api-key.ts'
import { inLane } from '../domain/account/lane.ts'
import { StoreUnavailableError } from '../domain/errors/errors.ts'
import { createKeyring } from '../domain/signing/keyring.ts'
import { createSigningKeyMark } from '../redis/signing-key-mark.ts'
import { unsuitableReadKey } from '../requests/messages/operator-notices.ts'
import type { Identity } from '../slack/web-api/identity.ts'
import { createAlertsSide } from './alerts-side.ts'
import { createFoundation, type Outlets } from './foundation/foundation.ts'
import { createLifecycle } from './lifecycle.ts'
import { createOperationsSide } from './operations-side.ts'
import { createPeopleSide } from './people-side.ts'
import { createWorkerSide } from './worker-side.ts'

/** Creates the whole bot from its configuration, each part from the parts above it. */
export function createBot(config: Config, outlets: Outlets) {
  const foundation = createFoundation(config, outlets)
  const people = createPeopleSide(foundation)
  const { worker, dataLossMark, progress } = createWorkerSide(foundation, people.features)
  const alerts = createAlertsSide(foundation, people.submit)
  const operations = createOperationsSide(foundation, progress)

  const { redis, clients, operators, opsChannel, disconnect } = foundation

  const isForeignKey = createSigningKeyMark({
    redis: redis.patient,
    keys: redis.keys,
    keyring: createKeyring(config.signingSecrets, { purpose: 'notices', prefix: config.redis.prefix }),
  })

  async function reachSlack(): Promise<Identity> {
    const identity = await clients.slack.identity.reach()
    // Nothing waits for it: it only warns.
    void opsChannel?.check()
    return identity
  }

  async function reachRedis(): Promise<void> {
    await redis.reach()
    // Report a rejected or unsuitable key right after the start. It does not stop the start, because moves in flight wait for a valid key.
    void checkKeys().catch(operators.onApiError)
    await checkData().catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? redis.startProblem(error) : error
    })
  }

  async function checkKeys(): Promise<void> {
    const list = () => clients.accountApi.apiKeys.list({ signal: AbortSignal.timeout(10_000) })
    const problem = readKeyProblem(await inLane('background', list), clients.ownLastSlices)
    if (problem) await operators.owe('read-key-unsuitable', unsuitableReadKey(problem), { about: problem, level: 'warn' })
  }

  async function checkData(): Promise<void> {
    await dataLossMark.check()
    if (!(await isForeignKey())) return
    const text = 'The process that started last with this REDIS_PREFIX signs with a key that this process does not have'
    outlets.log.warn({ code: 'signing-keys-differ' }, text)
  }

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: config.slack.appToken === undefined ? 'http' : 'socket mode' },
    log: outlets.log,
    lines: foundation.telemetry.lines,
    openOperations: operations.open,
    slack: {
      name: 'Slack',
      reach: reachSlack,
      longestPauseMs: 15_000,
      note: (problem) => void operations.note('slack', problem),
    },
    redis: { name: 'Redis', reach: reachRedis, longestPauseMs: 3_000, note: (problem) => void operations.note('redis', problem) },
    createListener: people.createListener,
    alerts,
    worker,
    workerProblem: operations.workerProblem,
    disconnect,
  })

  async function stop(): Promise<void> {
    operators.stop()
    await lifecycle.stop()
  }

  return { start: lifecycle.start, stop, interactions: people.interactions, commands: people.commands }
}
export type Bot = ReturnType<typeof createBot>
