import type { ApiAnswer } from '../../../audit/entry.ts'
import type { Audit } from '../../../audit/intake.ts'
import { ApiError, certainlyNotApplied, type UnappliedError } from '../../../domain/api-errors.ts'
import type { Request } from '../../../domain/request.ts'
import type { Queues } from '../../../redis/queues.ts'
import type { Opened } from '../../catalog.ts'
import { unappliedCause } from '../../messages/causes.ts'
import { noteOf } from '../../store/request-note.ts'
import type { Store } from '../../store/store.ts'
import { answerOf, createAnswerRecorder } from './api-answer.ts'

/**
 * The time from a write to the first read of its outcome, in case the process that sent it ends. The read does no harm while the answer is
 * still on its way, and it reports nothing as not started until every deadline of the write has passed.
 */
export const firstObservationMs = 2_000

/** The time from the answer to a write to the first look at its outcome. */
const firstLookMs = 1_000

interface SendWriteParts {
  store: Pick<Store, 'take' | 'postpone'>
  audit: Pick<Audit, 'note'>
  onApiError: (error: unknown) => void
  /** Plans the first look at what was sent. */
  planLook: Queues['planLook']
}

/** Creates the function that sends the write of a request and records the answer. It never repeats a write. */
export function createSendWrite({ store, audit, onApiError, planLook }: SendWriteParts) {
  return async function sendWrite(request: Request, { change, input }: Opened, facts: unknown): Promise<void> {
    const recorder = createAnswerRecorder()
    try {
      const outcome = await change.run?.(input, facts, { onAnswer: recorder.onAnswer })
      const audit = withAnswer(recorder.answer())
      if (outcome === 'done') await store.take(request, 'finish', { audit })
      else {
        await store.take(request, 'accept', { dueInMs: 0, audit })
        await planLook(firstLookMs)
      }
    } catch (error) {
      onApiError(error)
      if (certainlyNotApplied(error)) return endUnapplied(request, error)
      await store.postpone([request.id], firstObservationMs)
      await audit.note(noteOf(request, 'answer', withAnswer(answerOf(error))))
    }
  }

  async function endUnapplied(request: Request, error: UnappliedError): Promise<void> {
    const cause = unappliedCause(error, error instanceof ApiError ? 'not-changed' : 'not-sent')
    const name = error instanceof ApiError ? 'fail' : 'not-start'
    await store.take(request, name, { set: { causes: [cause] }, audit: withAnswer(answerOf(error)) })
  }
}

function withAnswer(answer: ApiAnswer | undefined): { answer?: ApiAnswer } {
  return answer ? { answer } : {}
}
