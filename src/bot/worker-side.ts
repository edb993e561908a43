import { createDiscardUnposted } from '../requests/reconcile/discard-unposted.ts'
import { createExecute } from '../requests/reconcile/execute.ts'
import { createReconcile } from '../requests/reconcile/reconcile.ts'
import { createTrack } from '../requests/reconcile/track.ts'
import { createCounts } from '../requests/worker/counts.ts'
import { createDataLossMark } from '../requests/worker/data-loss-mark.ts'
import { createProgress } from '../requests/worker/progress.ts'
import { createWorker } from '../requests/worker/worker.ts'
import type { Parts } from './parts.ts'

/** Creates what works on requests without a person: the worker, over the patient connection, and what tells how the work goes. */
export function createWorkerSide(parts: Parts) {
  const { instruments, redis, notices, requests } = parts
  const { keys, prompt, patient } = redis

  const dataLossMark = createDataLossMark({
    redis: patient,
    keys,
    notifyOperators: notices.notify,
    seenHead: requests.seenHead,
    catalog: requests.catalog,
  })
  const worker = createWorker({
    ...requests.forJobs,
    ...createJobs(parts),
    keys,
    dataLossMark,
    onError: instruments.errorReports.each('jobs'),
    onTick: instruments.metrics.tick,
  })

  const { store, queues } = requests.forPeople
  const progress = createProgress({ store, queues, counts: createCounts({ redis: prompt, keys }), catalog: requests.catalog })

  return { worker, dataLossMark, progress }
}

/** Creates what the worker does to each request: execute, track, and reconcile, which calls both. */
function createJobs({ config, timings, clients, notices: { onApiError, onChanged }, requests }: Parts) {
  const { movePollIntervalMs: pollIntervalMs, moveTimeoutMs: lateAfterMs } = config
  const { catalog, forJobs } = requests
  const { store, audit, deliver, show, wake } = forJobs

  const execute = createExecute({ store, audit, catalog, onApiError, onChanged })
  const { track, tracked } = createTrack({ store, catalog, pollIntervalMs, lateAfterMs, timings, onApiError })
  const discardUnposted = createDiscardUnposted({ store, messenger: clients.slack.messenger })
  const reconcile = createReconcile({ store, catalog, deliver, show, execute, track, discardUnposted, wake })
  return { reconcile, track, tracked }
}
