import type { Registry } from 'prom-client'
import { settleWithin } from '../../domain/within.ts'
import type { Page } from './health.ts'
import { createInstruments } from './instruments.ts'
import { atMostEvery, shareRuns } from './shared-runs.ts'

/** The figures that all replicas share. They are read from Redis for a scrape instead of being counted here. */
export interface Snapshot {
  /** Open requests, by state and kind. */
  open: { state: string; kind: string; count: number }[]
  movesInFlight: number
  /** The number of messages that were not delivered to Slack yet. */
  unsent: number
  /** Jobs, by BullMQ queue and state. */
  jobs: { queue: string; state: string; count: number }[]
  /** Undefined if there was no tick yet. */
  lastTickAgeMs: number | undefined
  /** Calls to the account API in the last minute, and how long the next one would have to wait. */
  budget: { kind: string; lane: string; used: number; waitMs: number }[]
}

/** How long the shared figures are reused, so that frequent scrapes cost little. Short enough that ages in them need no correction. */
const defaultKeepMs = 1_000

/** How long the page waits for the shared figures. Scrapers wait longer, so they still get the figures of this process. */
const defaultWaitMs = 3_000

interface MetricsPageParts {
  /** Holds the metrics of this process. */
  registry: Registry
  snapshot: () => Promise<Snapshot>
  keepMs?: number
  waitMs?: number
}

/**
 * Creates the metrics page in the format of Prometheus: the metrics of this process, and the figures that all replicas share. The latter are
 * missing while they cannot be read.
 */
export function createMetricsPage({ registry, snapshot, keepMs = defaultKeepMs, waitMs = defaultWaitMs }: MetricsPageParts) {
  const shared = createSnapshotGauges(registry)
  const readShared = atMostEvery(keepMs, shareRuns(snapshot))

  return async function page(): Promise<Page> {
    let latest: Snapshot | undefined
    const reading = readShared().then((figures) => {
      latest = figures
    })
    await settleWithin(waitMs, [reading])
    shared.set(latest)
    return { status: 200, type: registry.contentType, body: await registry.metrics() }
  }
}

/** Creates the gauges of the shared figures. Unknown figures get no value: an old one would hide an outage, and 0 would look healthy. */
function createSnapshotGauges(registry: Registry) {
  const { gauge } = createInstruments(registry)
  const up = gauge('lockkeeper_redis_up', '1 if Redis answered this scrape, otherwise 0.')
  const open = gauge('lockkeeper_requests_open', 'Open requests of all replicas, by kind of change and state.', 'kind', 'state')
  const inFlight = gauge('lockkeeper_moves_in_flight', 'Moves in progress, of all replicas. Each address of an evacuation counts.')
  const unsent = gauge('lockkeeper_messages_unsent', 'Messages that Slack has not received yet.')
  const jobs = gauge('lockkeeper_queue_jobs', 'Jobs, by queue and state.', 'queue', 'state')
  const tickAge = gauge('lockkeeper_last_tick_age_seconds', 'Time since the last tick of any replica. No ticks run while nothing is due.')
  const used = gauge(
    'lockkeeper_account_budget_used',
    'Calls to the account API in the last minute, of all replicas, by kind (read, write) and by what they were for.',
    'kind',
    'lane',
  )
  const waiting = gauge(
    'lockkeeper_account_budget_waiting_seconds',
    'How long the next call to the account API would have to wait for its limit, by kind and by what it is for.',
    'kind',
    'lane',
  )

  function set(figures: Snapshot | undefined): void {
    up.set(figures ? 1 : 0)
    for (const each of [open, jobs, used, waiting]) each.reset()
    for (const each of [inFlight, unsent, tickAge]) each.remove()
    if (!figures) return
    for (const { kind, state, count } of figures.open) open.set({ kind, state }, count)
    for (const { queue, state, count } of figures.jobs) jobs.set({ queue, state }, count)
    for (const { kind, lane, ...of } of figures.budget) {
      used.set({ kind, lane }, of.used)
      waiting.set({ kind, lane }, of.waitMs / 1_000)
    }
    inFlight.set(figures.movesInFlight)
    unsent.set(figures.unsent)
    if (figures.lastTickAgeMs !== undefined) tickAge.set(figures.lastTickAgeMs / 1_000)
  }

  return { set }
}
