import type { ApiAnswer } from '../../audit/entry.ts'
import type { Audit } from '../../audit/intake.ts'
import { ApiError, certainlyNotApplied, isKeyRefused, type UnappliedError } from '../../domain/api-errors.ts'
import { CheckFailed } from '../../domain/errors.ts'
import { isGenuine } from '../../domain/payload.ts'
import type { Request } from '../../domain/request.ts'
import { explainRefusal, toUserMessage } from '../../slack/errors.ts'
import type { Catalog, Opened } from '../catalog.ts'
import { type CommonFinding, refusalOf, unappliedCause } from '../messages/causes.ts'
import type { StepName } from '../steps.ts'
import { noteOf } from '../store/request-note.ts'
import type { Store } from '../store/store.ts'
import { answerOf, createAnswerRecorder } from './api-answer.ts'

/** The look before the write. */
const preflightMs = 15_000

/** While the account API does not answer the look before the write, it is asked again for this long after the approval. */
const patienceMs = 10 * 60_000

const retryLookMs = 10_000

/** A write is sent no longer than this after the look before it began: Redis may have been away in between, and the account has gone on. */
const lookHoldsMs = 20_000

/**
 * When a write is looked at that was sent and not confirmed, by whoever ticks then: its process may be gone. A look does no harm
 * while the answer is still awaited, and nothing is told as not started before every deadline is long over.
 */
const firstLookMs = 2_000

interface ExecuteParts {
  store: Store
  audit: Pick<Audit, 'note'>
  catalog: Catalog
  onApiError: (error: unknown) => void
  /** A record is not what was asked for any more. */
  onChanged: (request: Request) => void
}

/**
 * Carries out an approved request: looks once more, and makes the write at most once. Whoever gets the record from `approved` to
 * `starting` sends; everybody else, and everybody after a crash, only looks what became of it.
 */
export function createExecute({ store, audit, catalog, onApiError, onChanged }: ExecuteParts) {
  return async function execute(request: Request): Promise<void> {
    const opened = catalog.open(request)
    // What is handed over waits for its requester, until it expires.
    if (!opened.change.run) return expire(request)
    if (!isGenuine(request)) return refuseChanged(request)
    const now = await store.now()
    const startedAt = performance.now()
    if (await isOutdated(request, now)) return
    const seen = await lookAgain(request, opened)
    if (!seen) return

    const claimed = await store.take(request, 'send', {
      set: { seen: seen.facts },
      reports: opened.change.remark?.(seen.facts) === undefined ? [] : ['remark'],
      dueInMs: firstLookMs,
      notAfter: now + lookHoldsMs,
    })
    if (claimed.outcome === 'outdated') return store.postpone([request.id], 0)
    if (claimed.outcome !== 'won') return
    // The answer itself may have come late, when the command was sent again: somebody else may have told it as not started by now.
    if (performance.now() - startedAt > lookHoldsMs) return endUnsent(request)
    await write(request, opened, seen.facts)
  }

  async function endUnsent(request: Request): Promise<void> {
    await end(request, 'not-start', { code: 'suspended' })
  }

  /** What is kept is no longer what was approved: nobody has approved that. */
  async function refuseChanged(request: Request): Promise<void> {
    onChanged(request)
    await end(request, 'drop', { code: 'record-changed' })
  }

  /** Whoever approved it did not mean any time later: after a long standstill it has to be asked for again. */
  async function isOutdated(request: Request, now: number): Promise<boolean> {
    const waited = now - (request.decidedAt ?? request.createdAt)
    if (waited < request.ttlMs + patienceMs) return false
    await end(request, 'drop', { code: 'approved-too-long-ago' })
    return true
  }

  async function expire(request: Request): Promise<void> {
    const left = request.expiresAt - (await store.now())
    if (left > 0) return store.postponeIfUnchanged(request, left + 50)
    await end(request, 'expire-approved', { code: 'not-used' })
  }

  /** The preflight at execution. Settles the request, or puts it off, where the write must not be made. */
  async function lookAgain(request: Request, { change, input, facts }: Opened): Promise<{ facts: unknown } | undefined> {
    try {
      const now = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs) })
      if (now.incomplete) return await putOff(request)
      const differences = change.differences(facts, now.facts)
      if (differences.length === 0) return { facts: change.complete?.(facts, now.facts) ?? now.facts }
      await store.take(request, 'void', { set: { causes: differences } })
    } catch (error) {
      if (error instanceof CheckFailed) return void (await store.take(request, 'void', { set: { causes: [error.finding] } }))
      onApiError(error)
      if (toUserMessage(error) === undefined) throw error
      if (isForGood(error)) return refusedAtLook(request, error)
      await putOff(request, error)
    }
    return undefined
  }

  async function refusedAtLook(request: Request, error: ApiError): Promise<undefined> {
    await end(request, 'drop', unappliedCause(error, 'not-sent'))
  }

  async function putOff(request: Request, error?: unknown): Promise<undefined> {
    const waited = (await store.now()) - (request.decidedAt ?? request.createdAt)
    if (waited < patienceMs) return void (await store.postponeIfUnchanged(request, retryLookMs))
    const refusal = error instanceof ApiError && isKeyRefused(error) ? { refusal: refusalOf(error) } : {}
    await end(request, 'drop', { code: 'account-unread', ...refusal })
  }

  async function write(request: Request, { change, input }: Opened, facts: unknown): Promise<void> {
    const recorder = createAnswerRecorder()
    try {
      const outcome = await change.run?.(input, facts, { onAnswer: recorder.onAnswer })
      const audit = answered(recorder.answer())
      if (outcome === 'done') await store.take(request, 'finish', { audit })
      else await store.take(request, 'accept', { dueInMs: 0, audit })
    } catch (error) {
      onApiError(error)
      if (certainlyNotApplied(error)) return endUnapplied(request, error)
      await store.postpone([request.id], firstLookMs)
      await audit.note(noteOf(request, 'answer', answered(answerOf(error))))
    }
  }

  async function endUnapplied(request: Request, error: UnappliedError): Promise<void> {
    const cause = unappliedCause(error, error instanceof ApiError ? 'not-changed' : 'not-sent')
    const name = error instanceof ApiError ? 'fail' : 'not-start'
    await store.take(request, name, { set: { causes: [cause] }, audit: answered(answerOf(error)) })
  }

  async function end(request: Request, name: StepName, cause: CommonFinding): Promise<void> {
    await store.take(request, name, { set: { causes: [cause] } })
  }
}
export type Execute = ReturnType<typeof createExecute>

function answered(answer: ApiAnswer | undefined): { answer?: ApiAnswer } {
  return answer ? { answer } : {}
}

/** Whether waiting does not help: the account API says no to what was asked for, and will say so again. */
function isForGood(error: unknown): error is ApiError {
  return error instanceof ApiError && explainRefusal(error).next !== undefined
}
