import type { Origin } from '../domain/origin.ts'
import type { TrackedAnswer } from './answering.ts'
import { interimWords } from './errors.ts'
import type { Explain } from './explain.ts'
import type { OpenForm } from './form.ts'
import type { Authorize, FormHandler, Handler } from './interaction.ts'
import { notice } from './notice.ts'
import { inTime, interimAfterMs } from './prompt-answer.ts'

/**
 * The acknowledgement waits so long for the word on whether something comes for the first time, and no longer. It would not need it; but
 * answers that wait for Redis go out together, many in one turn of the event loop, which costs a fifth less.
 */
const acknowledgeWithinMs = 100

/** A form waits so long for the word on whether its user may use the bot; then it opens, while its trigger lives, and may turn into a refusal. */
const authorizeFirstMs = 1_500

interface ServeParts {
  authorize: Authorize
  openForm: OpenForm
  /** Whether this act of a person is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  explain: Explain
}

export interface Act {
  deliveryKey: string
  origin: Origin
  triggerId: string
  answer: TrackedAnswer
}

/** Acknowledges a command or a click, and runs what the person asked for. */
export function createServe({ authorize, openForm, isFirstDelivery, explain }: ServeParts) {
  return async function serve<A extends Act>(
    act: A,
    at: string,
    ack: () => Promise<void>,
    handler: NoInfer<Handler<A> | FormHandler<A>>,
  ): Promise<void> {
    const isFirst = isFirstDelivery(act.deliveryKey)
    await inTime(isFirst, acknowledgeWithinMs)
    await ack()
    const interim = setTimeout(() => {
      if (!act.answer.given()) void act.answer.whisper(notice(interimWords))
    }, interimAfterMs)
    try {
      if (!(await isFirst)) return
      const authorized = authorize(act.origin, at)
      authorized.catch(() => {})
      if (typeof handler === 'function') {
        await authorized
        await handler(act)
        return
      }
      if (handler.reads) await authorized
      else await inTime(authorized, authorizeFirstMs)
      const opened = openForm(act.triggerId, await handler.form(act), async () => {
        await authorized
        await handler.allow(act)
      })
      await opened.catch(async (error: unknown) => {
        // Whoever may not is told that, and not that the form came too late.
        await authorized
        throw error
      })
    } catch (error) {
      await act.answer.whisper(notice(explain(error, at)))
    } finally {
      clearTimeout(interim)
    }
  }
}
export type Serve = ReturnType<typeof createServe>
