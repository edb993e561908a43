import type { ApiAnswer } from '../../../audit/entry.ts'
import type { Audit } from '../../../audit/intake.ts'
import type { Request, Waits } from '../../../domain/request/request.ts'
import type { Wake } from '../../../redis/queues.ts'
import type { NoteOf } from '../../store/request-note.ts'
import type { Store } from '../../store/store.ts'
import type { WriteOutcomes } from './send-write.ts'

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
