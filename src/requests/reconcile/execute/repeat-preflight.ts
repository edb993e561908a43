import type { Finding } from '../../../domain/change/finding.ts'
import { AccountLimitError, ApiError, isKeyRefused } from '../../../domain/errors/api-errors.ts'
import { CheckFailed, StoreUnavailableError } from '../../../domain/errors/errors.ts'
import { explainRefusal, toUserMessage } from '../../../slack/errors.ts'
import type { Opened } from '../../catalog.ts'
import { type CommonFinding, refusalOf, unappliedCause } from '../../messages/refusals/causes.ts'

const preflightMs = 15_000

/**
 * `unchanged`: the write may be sent, with these facts. `changed`: the account is not as it was approved. `refused`: the account API
 * refuses the change permanently. `limited`: no read may be sent yet. `unread`: the account could not be read this time; `cause` ends the request if
 * that lasts.
 */
export type PreflightResult =
  | { is: 'unchanged'; facts: unknown }
  | { is: 'changed'; causes: Finding[] }
  | { is: 'refused'; cause: CommonFinding }
  | { is: 'limited'; waitMs: number }
  | { is: 'unread'; cause: CommonFinding }

/**
 * Repeats the preflight check of an approved request right before its write, and compares the account with what was approved. Throws
 * unexpected errors.
 */
export async function repeatPreflight({ change, input, facts }: Opened, onApiError: (error: unknown) => void): Promise<PreflightResult> {
  const now = await readAgain({ change, input, facts }, onApiError)
  if (now.is !== 'unchanged') return now
  const differences = change.differences(facts, now.facts)
  if (differences.length > 0) return { is: 'changed', causes: differences }
  return { is: 'unchanged', facts: change.complete?.(facts, now.facts) ?? now.facts }
}

/** Repeats the reads of a preflight check without comparing them with what was approved. Throws unexpected errors. */
export async function readAgain(
  { change, input, facts }: Pick<Opened, 'change' | 'input' | 'facts'>,
  onApiError: (error: unknown) => void,
): Promise<PreflightResult> {
  try {
    const now = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs), earlier: facts })
    return now.incomplete ? unread() : { is: 'unchanged', facts: now.facts }
  } catch (error) {
    if (error instanceof CheckFailed) return { is: 'changed', causes: [error.finding] }
    if (error instanceof AccountLimitError) return { is: 'limited', waitMs: error.waitMs }
    // Redis could not count the read, so the account API was not asked.
    if (error instanceof StoreUnavailableError) throw error
    onApiError(error)
    if (toUserMessage(error) === undefined) throw error
    return isPermanent(error) ? { is: 'refused', cause: unappliedCause(error, 'not-sent') } : unread(error)
  }
}

function unread(error?: unknown): PreflightResult {
  const refusal = error instanceof ApiError && isKeyRefused(error) ? { refusal: refusalOf(error) } : {}
  return { is: 'unread', cause: { code: 'account-unread', ...refusal } }
}

/** Whether the account API would refuse the same change again later. */
function isPermanent(error: unknown): error is ApiError {
  return error instanceof ApiError && explainRefusal(error).next !== undefined
}
