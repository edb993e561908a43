import type { Config } from '../config/config.ts'
import { type Timings, usualTimings } from '../domain/timings.ts'
import { settleWithin } from '../domain/within.ts'
import { createAuditLog } from '../ops/log/audit-log.ts'
import type { Log } from '../ops/log/log.ts'
import { createClients } from './clients.ts'
import { createInstruments } from './instruments.ts'
import { createLifecycle } from './lifecycle.ts'
import { createOperationsSide } from './operations-side.ts'
import { createOperatorNotices } from './operator-notices.ts'
import type { Parts } from './parts.ts'
import { createPeopleSide } from './people-side.ts'
import { createRedisSide } from './redis-side.ts'
import { createRequestsSide } from './requests-side.ts'
import { createWorkerSide } from './worker-side.ts'

export interface Outlets {
  log: Log
  /** Where the audit's lines go; standard output unless told. */
  printAudit?: (line: string) => void
  timings?: Timings
}

/** Builds the whole bot from its configuration, each part from the parts above it. */
export function createBot(config: Config, { log, printAudit = createAuditLog(), timings = usualTimings }: Outlets) {
  const instruments = createInstruments(log)
  const redis = createRedisSide(config, log)
  const clients = createClients(config, instruments)
  const notices = createOperatorNotices({ config, instruments, redis, clients })
  const requests = createRequestsSide({ config, printAudit, instruments, redis, clients, notices })

  const parts: Parts = { config, timings, instruments, redis, clients, notices, requests }
  const people = createPeopleSide(parts)
  const { worker, dataLossMark, progress } = createWorkerSide(parts)
  const operations = createOperationsSide({ ...parts, progress })

  async function reachRedis(): Promise<void> {
    await redis.reach()
    // Report a rejected key right after the start. It does not stop the start, because moves in flight wait for a valid key.
    void clients.accountApi.apiKeys.list({ signal: AbortSignal.timeout(10_000) }).catch(notices.onApiError)
    await dataLossMark.check()
  }

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: config.slack.appToken === undefined ? 'http' : 'socket mode' },
    log,
    openOperations: operations.open,
    slack: {
      name: 'Slack',
      reach: clients.slack.identity.reach,
      longestPauseMs: 15_000,
      note: (problem) => void operations.note('slack', problem),
    },
    redis: { name: 'Redis', reach: reachRedis, longestPauseMs: 3_000, note: (problem) => void operations.note('redis', problem) },
    createListener: people.createListener,
    worker,
    workerProblem: operations.workerProblem,
    disconnect: () => disconnect(parts),
  })

  async function stop(): Promise<void> {
    notices.stop()
    await lifecycle.stop()
  }

  return { start: lifecycle.start, stop, interactions: people.interactions, commands: people.commands }
}
export type Bot = ReturnType<typeof createBot>

/** Closes every connection, after the work on it has settled. Waits no longer than two seconds for that work. */
async function disconnect({ redis, clients, requests: { forPeople, forJobs } }: Parts): Promise<void> {
  await settleWithin(1_000, [forPeople.audit.settle(), forJobs.audit.settle()])
  await settleWithin(1_000, [forPeople.queues.close(), forJobs.queues.close(), clients.accountApi.close()])
  await redis.close()
}
