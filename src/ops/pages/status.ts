import { withinOr } from '../../domain/within.ts'
import type { Log } from '../log/log.ts'
import { describeError, scrub } from '../log/safe-value.ts'
import { json, type Page } from './health.ts'
import { shareRuns } from './shared-runs.ts'

/**
 * Checks one dependency. Throws an Error whose message is a sentence for operators if the dependency has a problem. May return a note for
 * them although it has none. A check that reuses its result drops it on `forget`.
 */
export type Check = (() => Promise<Note> | Note) & { forget?: () => void }
// biome-ignore lint/suspicious/noConfusingVoidType: most checks return nothing.
type Note = string | undefined | void

/** The result of a check. `since` is the time when this process first saw the problem, in ISO 8601. */
type CheckResult = { ok: true; note?: string } | { ok: false; problem: string; since: string }

/** How long a check may take. After that the page reports that it got no answer. */
const checkDeadlineMs = 2_000

interface StatusParts<Name extends string> {
  checks: Record<Name, Check>
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
}

/**
 * Creates the page that shows the state of each dependency to people and monitors. It never starts or stops anything. A problem keeps its
 * `since` until a check passes. The log gets one line when a problem begins and one when it ends.
 */
export function createStatus<Name extends string>({ checks, log, now = Date.now }: StatusParts<Name>) {
  const names = Object.keys(checks) as Name[]
  const wrongSince = new Map<Name, number>()
  /** How often other calls of a dependency succeeded. */
  const successes = new Map<Name, number>()
  const sharedChecks = new Map(names.map((name) => [name, shareRuns(() => check(name))]))

  /** Records what another call of a dependency found. `problem` is undefined if the call succeeded: probes that began earlier don't count then. */
  function note(name: Name, problem: string | undefined): void {
    if (problem === undefined) {
      successes.set(name, successesOf(name) + 1)
      checks[name].forget?.()
    }
    record(name, problem)
  }

  function successesOf(name: Name): number {
    return successes.get(name) ?? 0
  }

  async function check(name: Name): Promise<CheckResult> {
    const before = successesOf(name)
    const { problem, note } = await runCheck(checks[name])
    const result = record(name, successesOf(name) === before ? problem : undefined)
    return result.ok && note !== undefined ? { ...result, note } : result
  }

  function record(name: Name, problem: string | undefined): CheckResult {
    const before = wrongSince.get(name)
    if (problem === undefined) {
      wrongSince.delete(name)
      if (before !== undefined) log.info({ check: name, afterMs: now() - before }, 'A check passes again')
      return { ok: true }
    }
    if (before === undefined) log.warn({ code: 'check-failed', check: name, problem }, 'A check failed')
    const since = before ?? now()
    wrongSince.set(name, since)
    return { ok: false, problem, since: new Date(since).toISOString() }
  }

  /** Runs one check now. Never throws, and answers within 2 s. */
  async function run(name: Name): Promise<CheckResult> {
    return sharedChecks.get(name)?.() ?? { ok: true }
  }

  async function page(): Promise<Page> {
    const results = await Promise.all(names.map(async (name) => [name, await run(name)] as const))
    const ok = results.every(([, result]) => result.ok)
    return json(ok ? 200 : 503, { ok, checks: Object.fromEntries(results) })
  }

  return { note, run, page }
}

async function runCheck(check: Check): Promise<{ problem?: string; note?: string }> {
  const outcome = Promise.resolve()
    .then(check)
    .then(
      (note) => (note ? { note } : {}),
      (error: unknown) => ({ problem: scrub(describeError(error).message ?? '') || 'Failed' }),
    )
  return withinOr(checkDeadlineMs, outcome, { problem: `No answer within ${checkDeadlineMs / 1000} s` })
}
