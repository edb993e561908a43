import { json, type Page } from './health.ts'
import type { Log } from './log.ts'
import { describeError, scrub } from './safe-value.ts'
import { shareRuns } from './shared-runs.ts'

/** Returns or resolves when all is well; throws an Error whose message is a sentence when not. */
export type Check = () => Promise<void> | void

/** `since`: when this process first saw it, as an ISO time. */
export type Verdict = { ok: true } | { ok: false; problem: string; since: string }

const checkDeadlineMs = 2_000

interface StatusParts<Name extends string> {
  checks: Record<Name, Check>
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
}

/**
 * How each dependency is, for people and monitors. Nothing is started or stopped by it. A problem keeps its `since` and has one line in the
 * log from the first look that finds it to the first that does not.
 */
export function createStatus<Name extends string>({ checks, log, now = Date.now }: StatusParts<Name>) {
  const names = Object.keys(checks) as Name[]
  const wrongSince = new Map<Name, number>()
  const looks = new Map(names.map((name) => [name, shareRuns(async () => note(name, await runCheck(checks[name])))]))

  /** Takes in what somebody found out about a dependency; `problem` is undefined where all is well. */
  function note(name: Name, problem: string | undefined): Verdict {
    const before = wrongSince.get(name)
    if (problem === undefined) {
      wrongSince.delete(name)
      if (before !== undefined) log.info({ check: name, afterMs: now() - before }, 'a check passes again')
      return { ok: true }
    }
    if (before === undefined) log.warn({ check: name, problem }, 'a check fails')
    const since = before ?? now()
    wrongSince.set(name, since)
    return { ok: false, problem, since: new Date(since).toISOString() }
  }

  /** Runs one check now. Never throws; answers within 2 s. */
  async function look(name: Name): Promise<Verdict> {
    return looks.get(name)?.() ?? { ok: true }
  }

  async function page(): Promise<Page> {
    const verdicts = await Promise.all(names.map(async (name) => [name, await look(name)] as const))
    const ok = verdicts.every(([, verdict]) => verdict.ok)
    return json(ok ? 200 : 503, { ok, checks: Object.fromEntries(verdicts) })
  }

  return { note, look, page }
}
export type Status<Name extends string> = ReturnType<typeof createStatus<Name>>

async function runCheck(check: Check): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`No answer within ${checkDeadlineMs / 1000} s`), checkDeadlineMs)
  })
  const outcome = Promise.resolve()
    .then(check)
    .then(
      () => undefined,
      (error: unknown) => scrub(describeError(error).message) || 'Failed',
    )
  try {
    return await Promise.race([outcome, deadline])
  } finally {
    clearTimeout(timer)
  }
}
