import { createKeyring } from '../domain/signing/keyring.ts'
import type { Feature } from '../features/feature.ts'
import { createDiscardUnposted } from '../requests/reconcile/discard-unposted.ts'
import { createDistrust } from '../requests/reconcile/distrust.ts'
import { createExecute } from '../requests/reconcile/execute/execute.ts'
import { createItemSteps } from '../requests/reconcile/items/item-steps.ts'
import { createSendItems } from '../requests/reconcile/items/send-items.ts'
import { createReconcile } from '../requests/reconcile/reconcile.ts'
import { createTrack } from '../requests/reconcile/track/track.ts'
import { createDataLossMark } from '../requests/worker/data-loss-mark.ts'
import { createProgress } from '../requests/worker/progress.ts'
import { createRedisWatch } from '../requests/worker/redis-watch.ts'
import { createRepeatedWork } from '../requests/worker/repeated-work.ts'
import { createWorker } from '../requests/worker/worker.ts'
import type { Foundation } from './foundation/foundation.ts'
import { repeatedOf } from './repeated-of.ts'

/** Creates the worker side: the worker, which handles requests without a person, over the patient connection, and the report of its progress. */
export function createWorkerSide(foundation: Foundation, features: Feature[]) {
  const { telemetry, redis, operators, requests } = foundation
  const { keys, patient } = redis

  const dataLossMark = createDataLossMark({
    redis: patient,
    keys,
    operators,
    newestHead: requests.newestHead,
    catalog: requests.catalog,
    onLost: telemetry.metrics.requestsLost,
  })
  const redisWatch = createRedisWatch({
    redis: patient,
    keys,
    findFaults: redis.faultsToReport,
    keyring: createKeyring(foundation.config.signingSecrets, { purpose: 'notices', prefix: foundation.config.redis.prefix }),
    operators,
    log: telemetry.log,
    onFaults: telemetry.metrics.redisFaults,
  })
  const worker = createWorker({
    ...requests.forJobs,
    ...createJobs(foundation),
    keys,
    dataLossMark,
    redisWatch,
    operators,
    onError: telemetry.errorReports.of('jobs'),
    onTick: telemetry.metrics.tick,
  })

  const { store, queues } = requests.forPeople
  const progress = createProgress({ store, queues, catalog: requests.catalog })

  const repeatedWork = createRepeatedWork({
    redis: patient,
    keys,
    works: repeatedOf(features, foundation.config.policy),
    onError: telemetry.errorReports.of('jobs'),
  })

  return { worker: together(worker, repeatedWork), dataLossMark, progress }
}

interface Started {
  start(): Promise<void>
  stop(): Promise<void>
}

function together(...all: Started[]): Started {
  return {
    async start() {
      for (const each of all) await each.start()
    },
    async stop() {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
}

/** Creates the functions that the worker runs for each request: execute, track, and reconcile, which calls both. */
function createJobs({ config, timings, clients, operators, requests }: Foundation) {
  const { onApiError, onDistrusted, onLostRecord, onUndeliverable } = operators
  const { movePollIntervalMs: pollIntervalMs, moveTimeoutMs: lateAfterMs } = config
  const { catalog, signatures, noteOf, checkRecord, checkAuthority, checkItems, checkRetraction, forJobs } = requests
  const { store, audit, deliver, show, wake } = forJobs
  const { budget } = clients

  const distrust = createDistrust({ store, audit, noteOf, show, onDistrusted })
  const itemSteps = createItemSteps({ store, catalog, checkRecord, distrust, show, afterEndMs: pollIntervalMs * 3 })
  const forWrites = { store, audit, noteOf, catalog, budget, wake, onApiError, onDistrusted }
  const sendItems = createSendItems({ ...forWrites, checkRecord, distrust, checkItems, itemSteps })
  const execute = createExecute({ ...forWrites, sendItems, signatures, checkAuthority })
  const tracking = createTrack({
    store,
    catalog,
    pollIntervalMs,
    lateAfterMs,
    timings,
    itemSteps,
    onApiError,
    checkRecord,
    checkRetraction,
    distrust,
  })
  const discardUnposted = createDiscardUnposted({ store, messenger: clients.slack.messenger, onUndeliverable })
  const reconcile = createReconcile({
    store,
    catalog,
    checkRecord,
    distrust,
    deliver,
    show,
    execute,
    ...tracking,
    sendItems,
    discardUnposted,
    wake,
    onLostRecord,
  })
  return { reconcile, tracking }
}
