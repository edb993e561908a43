import type { Request } from '../../domain/request/request.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Catalog } from '../catalog.ts'
import type { NotifyOperators } from '../outbox/notices/notify-operators.ts'
import type { Show } from '../outbox/show.ts'
import type { Store } from '../store/store.ts'

const usualCheckMs = 10_000

/** No worker has reported for this long. Workers report every few seconds. */
const silenceMs = 30_000

/** So many checks in a row must see no worker: workers may start later than this process, or come back later after an outage of Redis. */
const checksInARow = 3

const noWorker = mrkdwn`:rotating_light: *No worker of Lockkeeper is running.* Approved changes don't start, and moves under way aren't tracked. Start a process with \`ROLE=worker\` or \`ROLE=all\`. Approved changes start then, up to 30 minutes after their approval.`

interface WorkerWatchParts {
  store: Pick<Store, 'findOpen' | 'take' | 'workersSeen' | 'lastWorkerAt'>
  catalog: Pick<Catalog, 'changeIfKnown'>
  operators: Pick<NotifyOperators, 'owe'>
  show: Show
  onError: (error: unknown) => void
  checkMs?: number
}

/**
 * Creates the watch of a process that answers people. While no worker is running, nothing else would say why approved changes do not start: their
 * messages say it, and the operators are told once.
 */
export function createWorkerWatch({ store, catalog, operators, show, onError, checkMs = usualCheckMs }: WorkerWatchParts) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let unseen = 0

  async function check(): Promise<void> {
    const before = unseen
    unseen = 0
    if ((await store.workersSeen(silenceMs)) > 0) return
    unseen = before + 1
    if (unseen < checksInARow) return
    // The same for all processes, and another one at the next time that no worker is running.
    await operators.owe('no-worker', noWorker, { about: String(await store.lastWorkerAt()) })
    for (const request of (await store.findOpen()).requests) await noteOn(request)
  }

  async function noteOn(request: Request): Promise<void> {
    if (request.state !== 'approved' || request.waits?.for === 'worker' || catalog.changeIfKnown(request.kind)?.handover) return
    const { outcome } = await store.take(request, 'wait-for-worker', { set: { waits: { for: 'worker' } } })
    if (outcome === 'won') await show(request.id)
  }

  function begin(): void {
    running ??= check()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
  }

  return {
    start: () => {
      timer = setInterval(begin, checkMs)
      timer.unref()
    },
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
