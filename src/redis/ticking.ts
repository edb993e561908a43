import type { Queue } from 'bullmq'

const schedulerId = 'tick'

/** The scheduler is considered dead when its next tick is overdue by three intervals and this time. */
const overdueMs = 2_000

/** Starts and stops the scheduler that adds a tick to the queue at every interval. All replicas share it. */
export function createTicking(ticks: Queue, pollIntervalMs: number) {
  /** Starts the scheduler of ticks, unless one is already running. */
  async function startTicking(): Promise<void> {
    const scheduler = await ticks.getJobScheduler(schedulerId)
    // A scheduler can lose its next tick, for example when it is removed and created again at the same moment. Then replace it.
    if (scheduler?.next !== undefined && scheduler.next > Date.now() - pollIntervalMs * 3 - overdueMs) return
    if (scheduler) await ticks.removeJobScheduler(schedulerId)
    await ticks.setGlobalConcurrency(1)
    await ticks.upsertJobScheduler(schedulerId, { every: pollIntervalMs }, { name: 'tick' })
  }

  /** Replaces a scheduler that exists but produces no ticks. */
  async function restartTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
    await startTicking()
  }

  async function stopTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
  }

  return { startTicking, restartTicking, stopTicking }
}
