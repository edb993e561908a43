import type { Audit } from '../audit/audit.ts'
import type { ApiAnswer } from '../audit/chain.ts'
import type { Finding, OnAnswer } from '../domain/change.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  CheckFailed,
  certainlyNotApplied,
  isKeyRefused,
  rateLimitCode,
  StoreUnavailableError,
} from '../domain/errors.ts'
import type { CallKind } from '../domain/lane.ts'
import type { Request, Waits } from '../domain/request.ts'
import { type CommonFinding, refusalOf, unappliedCause } from '../messages/refusals.ts'
import type { Wake } from '../redis/queues.ts'
import { explainRefusal, toUserMessage } from '../slack/errors.ts'
import { approvalHoldsMs } from './authority.ts'
import type { Opened } from './catalog.ts'
import type { NoteOf, Store } from './store.ts'

/** Creates a recorder of the account API's answer to a write, for the audit. */
export function createAnswerRecorder() {
  let last: ApiAnswer | undefined
  const onAnswer: OnAnswer = ({ operation, status }) => {
    last = typeof status === 'number' ? { operation, status } : { operation, problem: status }
  }
  /** Returns the last answer, or undefined if nothing was sent. */
  const answer = () => last
  return { onAnswer, answer }
}

/**
 * Returns the answer to a failed write, without text from outside. Returns undefined for an error that occurred before anything was sent.
 */
export function answerOf(error: unknown): ApiAnswer | undefined {
  if (error instanceof AccountLimitError)
    return error.answered ? { operation: error.operation, status: 429, codes: [rateLimitCode] } : undefined
  if (error instanceof ApiError) {
    const { operation, status, codes } = error
    return { operation, status, ...(codes.length > 0 ? { codes } : {}) }
  }
  if (error instanceof ApiContractError) return { operation: error.operation, status: error.status, problem: 'unreadable answer' }
  if (error instanceof ApiUnreachableError) return { operation: error.operation, problem: error.problem }
  return undefined
}

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

const retryPreflightMs = 10_000

/** A wait that ends this much earlier or later than its message says is not shown again. */
const sameWaitMs = 10_000

interface CheckAgainParts {
  store: Pick<Store, 'take' | 'now' | 'postponeIfUnchanged'>
  wake: Wake
  perMinute: Record<CallKind, number>
  onApiError: (error: unknown) => void
}

/**
 * Creates what an approved request does until its write may be sent: the preflight check is repeated, and the request waits for the account API or
 * for its turn. A wait prolongs no approval.
 */
export function createCheckAgain({ store, wake, perMinute, onApiError }: CheckAgainParts) {
  /** Returns what the check read, or ends or postpones the request and returns undefined. */
  async function checkAgain(request: Request, opened: Opened): Promise<{ facts: unknown } | undefined> {
    const result = await repeatPreflight(opened, onApiError)
    switch (result.is) {
      case 'unchanged':
        return { facts: result.facts }
      case 'changed':
        await store.take(request, 'void', { set: { causes: result.causes } })
        return undefined
      case 'refused':
        await drop(request, result.cause)
        return undefined
      case 'limited':
        await waitForTurn(request, 'reads', result.waitMs)
        return undefined
      case 'unread':
        await waitForAccount(request, result.cause)
        return undefined
    }
  }

  /** Repeats the check later, or ends a request that has waited too long. The first time that nothing answers, the request message says so. */
  async function waitForAccount(request: Request, cause: CommonFinding): Promise<void> {
    if (isTooLate(request, await store.now())) return drop(request, cause)
    // If the account API rejects the key, it does answer, and the message must not say otherwise.
    if (request.waits?.for !== 'account' && !('refusal' in cause))
      await store.take(request, 'wait-for-account', { set: { waits: { for: 'account' } }, dueInMs: retryPreflightMs })
    else await store.postponeIfUnchanged(request, retryPreflightMs)
  }

  const waitForWrites = (request: Request, waitMs: number) => waitForTurn(request, 'writes', waitMs)

  /** Waits until a call may be free, or ends a request whose approval is over. */
  async function waitForTurn(request: Request, what: 'reads' | 'writes', waitMs: number): Promise<void> {
    const now = await store.now()
    if (isTooLate(request, now)) return drop(request, { code: 'limit-used-up', perMinute: perMinuteOf(what) })
    const waits: Waits = { for: what, ms: waitMs, until: now + waitMs, perMinute: perMinuteOf(what) }
    const { waits: shown } = request
    const isShown = shown?.for === what && Math.abs((shown.until ?? 0) - now - waitMs) < sameWaitMs
    if (isShown) await store.postponeIfUnchanged(request, waitMs)
    else await store.take(request, 'wait-for-turn', { set: { waits }, dueInMs: waitMs })
    await wake(request, waitMs + 20)
  }

  const perMinuteOf = (what: 'reads' | 'writes') => perMinute[what === 'reads' ? 'read' : 'write']

  async function drop(request: Request, cause: CommonFinding): Promise<void> {
    await store.take(request, 'drop', { set: { causes: [cause] } })
  }

  return { checkAgain, waitForWrites }
}

function isTooLate(request: Request, now: number): boolean {
  return sinceApprovalMs(request, now) >= approvalHoldsMs
}

/** Returns the time since the last approval, or since the request if its rule needs none. `now`: ms since 1970 by Redis' clock. */
export function sinceApprovalMs({ decidedAt, createdAt }: Request, now: number): number {
  return now - (decidedAt ?? createdAt)
}

/** What is recorded of the answer to a write. */
export interface WriteOutcomes {
  /** The answer confirms the change. */
  finish(answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API accepted the change, which takes effect now. */
  accept(answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API refused the change. */
  fail(cause: Finding, answer: ApiAnswer | undefined): Promise<unknown>
  /** The write certainly did not reach the account API. */
  notStart(cause: Finding, answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API refused the write because of its limit. It was not carried out, and is sent again at its next turn. */
  limited(waitMs: number, answer: ApiAnswer | undefined): Promise<unknown>
  /** Nobody knows whether the write took effect. */
  unclear(answer: ApiAnswer | undefined): Promise<unknown>
}

/** Sends the one write of a change and records the answer. */
export async function sendWrite(
  { change, input }: Opened,
  facts: unknown,
  outcomes: WriteOutcomes,
  onApiError: (error: unknown) => void,
): Promise<void> {
  const recorder = createAnswerRecorder()
  try {
    const outcome = await change.run?.(input, facts, { onAnswer: recorder.onAnswer })
    if (outcome === 'done') await outcomes.finish(recorder.answer())
    else await outcomes.accept(recorder.answer())
  } catch (error) {
    const answer = answerOf(error)
    if (error instanceof AccountLimitError) return void (await outcomes.limited(error.waitMs, answer))
    onApiError(error)
    if (!certainlyNotApplied(error)) await outcomes.unclear(answer)
    else if (error instanceof ApiError) await outcomes.fail(unappliedCause(error, 'not-changed'), answer)
    else await outcomes.notStart(unappliedCause(error, 'not-sent'), answer)
  }
}

/**
 * The time from a write to the first read of its outcome, in case the process that sent it ends. The read does no harm while the answer is
 * still on its way, and it reports nothing as not started until every deadline of the write has passed.
 */
export const firstObservationMs = 2_000

/** The longest time from the answer to a write to the first look at its outcome. */
const latestFirstLookMs = 20_000

interface RequestOutcomesParts {
  store: Pick<Store, 'take' | 'postpone' | 'now' | 'usualDuration'>
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  wake: Wake
  perMinute: number
}

/** Creates the function that returns how the outcomes of a request's one write are recorded. */
export function createRequestOutcomes({ store, audit, noteOf, wake, perMinute }: RequestOutcomesParts) {
  return function outcomesOf(request: Request): WriteOutcomes {
    return {
      finish: (answer) => store.take(request, 'finish', { audit: withAnswer(answer) }),
      async accept(answer) {
        // Nothing is read before half of the usual time is over.
        const usual = await store.usualDuration(request.kind)
        const dueInMs = Math.min((usual?.medianMs ?? 0) / 2, latestFirstLookMs)
        await store.take(request, 'accept', { dueInMs, audit: withAnswer(answer) })
      },
      async limited(ms, answer) {
        const waits: Waits = { for: 'writes', ms, until: (await store.now()) + ms, perMinute }
        await store.take(request, 'limit', { set: { waits }, dueInMs: ms, audit: withAnswer(answer) })
        await wake(request, ms + 20)
      },
      fail: (cause, answer) => store.take(request, 'fail', { set: { causes: [cause] }, audit: withAnswer(answer) }),
      notStart: (cause, answer) => store.take(request, 'not-start', { set: { causes: [cause] }, audit: withAnswer(answer) }),
      async unclear(answer) {
        await store.postpone(request.id, firstObservationMs)
        await audit.note(noteOf(request, 'answer', withAnswer(answer)))
      },
    }
  }
}

export function withAnswer(answer: ApiAnswer | undefined): { answer?: ApiAnswer } {
  return answer ? { answer } : {}
}
