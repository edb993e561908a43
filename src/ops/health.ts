import type { ServerResponse } from 'node:http'
import type { Registry } from '@prometheus-io/client'
import { withinOr } from '../domain/within.ts'
import { describeError, type Log, likenessOf, type RepeatedLines, scrub } from './log.ts'
import { createInstruments } from './metrics.ts'
import { createLimitedServer, type LimitedRequest } from './server.ts'

/** Reuses the result unless it failed. Probes and scrapes come every few seconds from several sides. */
export function atMostEvery<T>(ms: number, run: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: T } | undefined
  return shareRuns(async () => {
    if (!last || Date.now() - last.at >= ms) last = { at: Date.now(), result: await run() }
    return last.result
  })
}

/** Calls do not pile up behind a dependency that hangs. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}

export interface Page {
  status: number
  type: string
  body: string
}

interface HealthParts {
  /** Default: the loopback address, because the pages have no authentication. */
  host?: string
  port: number
  /** Returns why the bot is not ready, in words, or undefined if it is ready. Must answer within seconds and never throw. */
  whyNotReady: () => Promise<string | undefined>
  lines?: Pick<RepeatedLines, 'write'>
  pages?: Record<string, () => Promise<Page>>
}

/** Never the public port. `/healthz`: 200 while the process is alive. `/readyz`: 200, or 503 with the reason. Throws StartError. */
export async function startHealth({ host = '127.0.0.1', port, whyNotReady, lines, pages = {} }: HealthParts) {
  const known: Record<string, () => Promise<Page>> = {
    '/healthz': async () => json(200, { alive: true }),
    '/readyz': async () => {
      const why = await whyNotReady()
      return why === undefined ? json(200, { ready: true }) : json(503, { ready: false, why })
    },
    ...pages,
  }

  function handle({ request, response, trust }: LimitedRequest): void {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(known, path) ? known[path] : undefined
    if (!page) return void answer(response, json(404, { error: `Not found. Pages: ${Object.keys(known).join(', ')}.` }))
    if (request.method !== 'GET' && request.method !== 'HEAD') return void answer(response, json(405, { error: 'Use GET or HEAD.' }))
    trust()
    page().then(
      (content) => answer(response, content),
      (error: unknown) => {
        const about = `${path} ${likenessOf(error)}`
        lines?.write({ fields: { code: 'page-failed', error, path }, text: 'A page for operators failed', about })
        answer(response, json(500, { error: 'This page failed. See the log.' }))
      },
    )
  }

  const named = { host: 'OPS_HOST', port: 'OPS_PORT' }
  const server = createLimitedServer({ named, mostConnections: 100, stopWithinMs: 0, handle })
  return { port: await server.start({ host, port }), close: server.stop }
}
export type Health = Awaited<ReturnType<typeof startHealth>>

function json(status: number, body: unknown): Page {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

function answer(response: ServerResponse, { status, type, body }: Page): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(body)
}

/** A problem in Lockkeeper's own words. Messages of other errors are cut. */
export class CheckProblem extends Error {
  override name = 'CheckProblem'
}

/** Throws an Error with a sentence for operators if the dependency has a problem. May return a note although it has none. */
// biome-ignore lint/suspicious/noConfusingVoidType: most checks return nothing.
export type Check = () => Promise<string | undefined | void>

/** `since`: when this process first saw the problem, in ISO 8601. */
type CheckResult = { ok: true; note?: string } | { ok: false; problem: string; since: string }

const checkDeadlineMs = 2_000

/** A problem keeps its `since` until the check passes or finds another one. The log gets one line when each begins, and one when all have ended. */
export function createStatus<Name extends string>(
  checks: Record<Name, Check>,
  log: Pick<Log, 'info' | 'warn'>,
  now: () => number = Date.now,
) {
  const names = Object.keys(checks) as Name[]
  const wrong = new Map<Name, { about: string; since: number }>()
  const shared = Object.fromEntries(names.map((name) => [name, shareRuns(() => check(name))])) as Record<Name, () => Promise<CheckResult>>

  async function check(name: Name): Promise<CheckResult> {
    const { problem, note } = await runCheck(checks[name])
    const before = wrong.get(name)
    if (problem === undefined) {
      wrong.delete(name)
      if (before) log.info({ check: name, afterMs: now() - before.since }, 'A check passes again')
      return { ok: true, note }
    }
    // Numbers and codes of one problem vary.
    const about = problem.replace(/\d+| \([^)]*\)/g, '')
    const isSame = before?.about === about
    if (!isSame) log.warn({ code: 'check-failed', check: name, problem }, 'A check failed')
    const since = isSame ? before.since : now()
    wrong.set(name, { about, since })
    return { ok: false, problem, since: new Date(since).toISOString() }
  }

  async function page(): Promise<Page> {
    const results = await Promise.all(names.map(async (name) => [name, await shared[name]()] as const))
    const ok = results.every(([, result]) => result.ok)
    return json(ok ? 200 : 503, { ok, checks: Object.fromEntries(results) })
  }

  return { run: (name: Name) => shared[name](), page }
}

async function runCheck(check: Check): Promise<{ problem?: string; note?: string }> {
  const outcome = check().then(
    (note) => ({ note: note || undefined }),
    (error: unknown) => ({ problem: scrub((error instanceof CheckProblem ? error : describeError(error)).message ?? '') || 'Failed' }),
  )
  return withinOr(checkDeadlineMs, outcome, { problem: `No answer within ${checkDeadlineMs / 1000} s` })
}

/** What all replicas share, read from Redis for a scrape. */
export interface Snapshot {
  open: { state: string; kind: string; count: number }[]
  scheduled: { by: string; count: number }[]
  movesInFlight: number
  unsent: number
  /** How many worker processes run. */
  workers: number
  /** In bytes. `max`: 0 without a limit. */
  memory: { used: number; max: number } | undefined
  /** How far the clock of this process is ahead of that of Redis. */
  clockAheadMs: number | undefined
  /** Undefined if there was no tick yet. */
  lastTickAgeMs: number | undefined
  budget: { kind: string; lane: string; used: number; waitMs: number }[]
  /** Undefined if that could not be read. */
  isFrozen: boolean | undefined
}

/** Unknown figures get no value: an old one would hide an outage, and 0 would look healthy. Scrapers wait longer than `waitMs`. */
export function createMetricsPage(registry: Registry, snapshot: () => Promise<Snapshot>, { keepMs = 1_000, waitMs = 3_000 } = {}) {
  const { gauge } = createInstruments(registry)
  const up = gauge('lockkeeper_redis_up', '1 if Redis answers.')
  const open = gauge('lockkeeper_requests_open', 'Open requests.', 'kind', 'state')
  const scheduled = gauge('lockkeeper_requests_scheduled', 'Approved requests that are held: start, window, freeze or change.', 'by')
  const inFlight = gauge('lockkeeper_moves_in_flight', 'Moves in progress.')
  const unsent = gauge('lockkeeper_messages_unsent', 'Messages that wait for Slack.')
  const tickAge = gauge('lockkeeper_last_tick_age_seconds', 'Time since the last tick.')
  const used = gauge('lockkeeper_account_budget_used', 'Calls to the account API in the last minute.', 'kind', 'lane')
  const waiting = gauge('lockkeeper_account_budget_waiting_seconds', 'How long the next call would wait for its limit.', 'kind', 'lane')

  const workers = gauge('lockkeeper_workers', 'Worker processes. 0: nothing is sent or tracked.')
  const memoryUsed = gauge('lockkeeper_redis_memory_used_bytes', 'Memory that Redis uses, or the fullest server of a Cluster.')
  const memoryMax = gauge('lockkeeper_redis_memory_max_bytes', 'maxmemory of Redis. 0: none.')
  const clockAhead = gauge('lockkeeper_clock_ahead_seconds', 'How far the clock is ahead of Redis.')
  const frozen = gauge('lockkeeper_frozen', '1 while all changes are frozen.')

  function set(figures: Snapshot | undefined): void {
    up.set(figures ? 1 : 0)
    for (const each of [open, scheduled, used, waiting]) each.reset()
    for (const each of [inFlight, unsent, tickAge, frozen, workers, memoryUsed, memoryMax, clockAhead]) each.remove()
    if (!figures) return
    for (const { kind, state, count } of figures.open) open.set({ kind, state }, count)
    for (const { by, count } of figures.scheduled) scheduled.set({ by }, count)
    for (const { kind, lane, ...of } of figures.budget) {
      used.set({ kind, lane }, of.used)
      waiting.set({ kind, lane }, of.waitMs / 1_000)
    }
    const known: [typeof frozen, number | undefined][] = [
      [frozen, figures.isFrozen === undefined ? undefined : Number(figures.isFrozen)],
      [inFlight, figures.movesInFlight],
      [unsent, figures.unsent],
      [workers, figures.workers],
      [memoryUsed, figures.memory?.used],
      [memoryMax, figures.memory?.max],
      [clockAhead, figures.clockAheadMs && figures.clockAheadMs / 1_000],
      [tickAge, figures.lastTickAgeMs && figures.lastTickAgeMs / 1_000],
    ]
    for (const [each, value] of known) if (value !== undefined) each.set(value)
  }

  const readShared = atMostEvery(keepMs, snapshot)

  // Anybody on the network may ask, and the text takes long to build.
  return shareRuns(async (): Promise<Page> => {
    const known = readShared().catch(() => undefined)
    set(await withinOr(waitMs, known, undefined))
    return { status: 200, type: registry.contentType, body: await registry.metrics() }
  })
}
