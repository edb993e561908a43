import { createAccountBudget } from '../../account-api/budget.ts'
import { createInventory, type ListName } from '../../account-api/inventory.ts'
import type { Config } from '../../config/config.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { type Timings, usualTimings } from '../../domain/timings.ts'
import { settleWithin } from '../../domain/within.ts'
import { createAuditLog } from '../../ops/log/audit-log.ts'
import type { Log } from '../../ops/log/log.ts'
import { createAssignments } from '../../redis/assignments/assignments.ts'
import { assignmentsRefused } from '../../requests/messages/operator-notices.ts'
import { createApiClients } from './api-clients.ts'
import { createOperatorNotifier } from './operator-notifier.ts'
import { createOpsChannel } from './ops-channel.ts'
import { createRedisConnections } from './redis-connections.ts'
import { createRequests } from './requests.ts'
import { createTelemetry } from './telemetry.ts'

export interface Outlets {
  log: Log
  /** Prints the lines of the audit. Default: to standard output. */
  printAudit?: (line: string) => void
  timings?: Timings
}

/** Creates what the people side, the worker side and the operations side share. */
export function createFoundation(config: Config, { log, printAudit = createAuditLog(), timings = usualTimings }: Outlets) {
  const telemetry = createTelemetry(log)
  const redis = createRedisConnections(config, telemetry)
  const keyringFor = (purpose: 'assignments' | 'lists') => createKeyring(config.signingSecrets, { purpose, prefix: config.redis.prefix })
  const onAssignmentsLost = telemetry.errorReports.of('jobs')
  const { readsPerMinute, writesPerMinute } = config.infra
  const budget = createAccountBudget({
    redis: redis.prompt,
    keys: redis.keys,
    readsPerMinute,
    writesPerMinute,
    pollBudget: config.movePollBudget,
    hasReadKey: config.infra.readKey !== undefined,
    windowMs: timings.accountWindowMs,
    onShareSpent: telemetry.onShareSpent,
  })
  const elasticIpReads = {
    onComplete: (all: ElasticIp[]) => void assignments.note(all).catch(onAssignmentsLost),
    onOne: (one: ElasticIp) => void assignments.noteOne(one).catch(onAssignmentsLost),
  }
  // Without Redis, the copies of the lists are at most 10 s old anyway.
  const onWrite = (operation: string) => void inventory.forget(operation.split('.')[0] as ListName).catch(() => {})
  const clients = createApiClients(config, telemetry, { elasticIpReads, budget, onWrite })
  const inventory = createInventory({
    minuteMs: timings.accountWindowMs,
    accountApi: clients.accountApi,
    redis: redis.prompt,
    keys: redis.keys,
    keyring: keyringFor('lists'),
  })
  const opsChannel = createOpsChannel({
    channelId: config.opsChannel,
    membership: clients.slack.setupProbe.membership,
    lines: telemetry.lines,
  })
  const operators = createOperatorNotifier({ config, telemetry, redis, clients })
  const assignments = createAssignments({
    redis: redis.prompt,
    keys: redis.keys,
    keyring: keyringFor('assignments'),
    onRefused: (problem) => operators.owe('assignments-refused', assignmentsRefused(problem), { about: problem }),
  })
  const requests = createRequests({ config, printAudit, telemetry, redis, clients, operators })

  /** Closes every connection after the work on it has ended. Waits at most two seconds for that work. */
  async function disconnect(): Promise<void> {
    const { forPeople, forJobs } = requests
    await settleWithin(1_000, [forPeople.audit.settle(), forJobs.audit.settle()])
    await settleWithin(1_000, [forPeople.queues.close(), forJobs.queues.close(), clients.accountApi.close()])
    await redis.close()
  }

  return { config, timings, telemetry, redis, clients, inventory, assignments, operators, opsChannel, requests, disconnect }
}
export type Foundation = ReturnType<typeof createFoundation>
