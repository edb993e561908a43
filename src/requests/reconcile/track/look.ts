import { nextStep } from './next-step.ts'
import type { ObserveEach, Tracked } from './observe-each.ts'
import type { Pace } from './pace.ts'
import type { PollBudget } from './poll-budget.ts'
import { createSurveys } from './surveys.ts'

/** How long after its write a change is also observed between two ticks. Most moves end within this time. */
const youngMs = 2 * 60_000

interface LookParts {
  now: () => Promise<number>
  budget: PollBudget
  pace: Pace
  observeEach: ObserveEach
  /** How often ticks observe a change under way. */
  pollIntervalMs: number
  /** How long after its write a request is reported as late. */
  lateAfterMs: number
  onApiError: (error: unknown) => void
}

/**
 * Creates the looks: while few changes are under way, they are observed more often than at every tick. A single one is read by itself.
 * Several are looked up on the first page of the survey, and each that is no longer there is read by itself.
 *
 * Every request comes out of the budget, except the read that confirms the end of a change that the last look still showed.
 */
export function createLook({ now, budget, pace, observeEach, pollIntervalMs, lateAfterMs, onApiError }: LookParts) {
  /** The changes that the last look of this process showed under way. */
  let shownBefore = new Set<string>()

  /**
   * Looks at the requests that are due. Returns the time until the next look in ms. Returns undefined if ticks are often enough, if the budget
   * is spent, or if the account API did not answer; then the next tick decides anew.
   */
  async function look(requests: Tracked[]): Promise<number | undefined> {
    const at = await now()
    const young = requests.filter((request) => isYoung(request, at))
    const everyMs = lookEveryMs(young.length, pollIntervalMs)
    if (everyMs === undefined || (await budget.spend(1)) === 0) return undefined
    const isAnswered = young.length === 1 ? await observeAll(young, at) : await lookTogether(young, at)
    return isAnswered ? everyMs : undefined
  }

  /** Returns false if the account API did not answer. */
  async function lookTogether(requests: Tracked[], at: number): Promise<boolean> {
    const survey = createSurveys(onApiError, { firstPageOnly: true })
    const found = await Promise.all(requests.map(async (request) => ({ request, is: await survey(request.surveyed) })))
    if (found.some(({ is }) => is === 'unread')) return false
    const shown = found.filter(({ is }) => is === 'shown').map(({ request }) => request)
    const missing = found.filter(({ is }) => is === 'missing').map(({ request }) => request)
    const [ending, others] = [missing.filter((one) => shownBefore.has(keyOf(one))), missing.filter((one) => !shownBefore.has(keyOf(one)))]
    shownBefore = new Set(shown.map(keyOf))
    const granted = others.length === 0 ? 0 : await budget.spend(others.length)
    await pace.postpone([...shown, ...others.slice(granted)])
    return observeAll([...ending, ...others.slice(0, granted)], at)
  }

  /** Returns false if the account API did not answer for one of them. */
  async function observeAll(requests: Tracked[], at: number): Promise<boolean> {
    return !(await observeEach(requests, at)).includes('unread')
  }

  function isYoung(request: Tracked, at: number): boolean {
    const { state, surveyed, sentAt } = request
    if (state !== 'tracking' || surveyed === undefined || sentAt === undefined || at - sentAt >= youngMs) return false
    // A tick reports it as late.
    return request.lateAt === undefined && nextStep(request, { is: 'underway' }, at, lateAfterMs) === undefined
  }

  /** Returns when to look at requests for the first time, in ms, as `look` does. */
  async function firstLook(requests: Tracked[]): Promise<number | undefined> {
    const at = await now()
    return lookEveryMs(requests.filter((request) => isYoung(request, at)).length, pollIntervalMs)
  }

  return { look, firstLook }
}

function keyOf({ id, item = '' }: Tracked): string {
  return `${id}/${item}`
}

/** Returns the time between two looks in ms. Returns undefined if there is nothing to look at, or if ticks are as frequent. */
export function lookEveryMs(count: number, pollIntervalMs: number): number | undefined {
  const everyMs = count === 0 ? undefined : count <= 5 ? 1_000 : count <= 20 ? 2_000 : count <= 100 ? 3_000 : undefined
  return everyMs !== undefined && everyMs < pollIntervalMs ? everyMs : undefined
}
