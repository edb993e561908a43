import { createDiscardUnposted } from '../requests/reconcile/discard-unposted.ts'
import { createExecute } from '../requests/reconcile/execute/execute.ts'
import { createReconcile } from '../requests/reconcile/reconcile.ts'
import { createPollBudget } from '../requests/reconcile/track/poll-budget.ts'
import { createTrack } from '../requests/reconcile/track/track.ts'
import { createCounts } from '../requests/worker/counts.ts'
import { createDataLossMark } from '../requests/worker/data-loss-mark.ts'
import { createProgress } from '../requests/worker/progress.ts'
import { createWorker } from '../requests/worker/worker.ts'
import type { Foundation } from './foundation/foundation.ts'

/** Creates the worker side: the worker, which handles requests without a person, over the patient connection, and the report of its progress. */
export function createWorkerSide(foundation: Foundation) {
  const { telemetry, redis, operators, requests } = foundation
  const { keys, prompt, patient } = redis

  const dataLossMark = createDataLossMark({
    redis: patient,
    keys,
    notifyOperators: operators.notify,
    newestHead: requests.newestHead,
    catalog: requests.catalog,
  })
  const worker = createWorker({
    ...requests.forJobs,
    ...createJobs(foundation),
    keys,
    dataLossMark,
    onError: telemetry.errorReports.each('jobs'),
    onTick: telemetry.metrics.tick,
  })

  const { store, queues } = requests.forPeople
  const progress = createProgress({ store, queues, counts: createCounts({ redis: prompt, keys }), catalog: requests.catalog })

  return { worker, dataLossMark, progress }
}

/** Creates the functions that the worker runs for each request: execute, track, and reconcile, which calls both. */
function createJobs({ config, timings, clients, redis: { keys }, operators: { onApiError, onDistrusted }, requests }: Foundation) {
  const { movePollIntervalMs: pollIntervalMs, moveTimeoutMs: lateAfterMs } = config
  const { catalog, signatures, checkAuthority, checkSearch, forJobs } = requests
  const { redis, store, audit, deliver, show, wake, queues } = forJobs
  const budget = createPollBudget({ redis, keys, perMinute: config.movePollBudget })

  const execute = createExecute({ store, audit, catalog, onApiError, planLook: queues.planLook, signatures, checkAuthority, onDistrusted })
  const tracking = createTrack({
    store,
    catalog,
    pollIntervalMs,
    lateAfterMs,
    timings,
    budget,
    onApiError,
    audit,
    checkSearch,
    onDistrusted,
  })
  const discardUnposted = createDiscardUnposted({ store, messenger: clients.slack.messenger })
  const reconcile = createReconcile({ store, catalog, deliver, show, execute, track: tracking.track, discardUnposted, wake })
  return { reconcile, tracking }
}
