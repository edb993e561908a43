import type { Origin } from '../../domain/approval/origin.ts'
import { within } from '../../domain/within.ts'
import { notice, noticeView } from '../blocks/notice.ts'
import type { OpenForm } from '../commands/forms/form.ts'
import type { Authorize, FormHandler, Handler } from '../commands/handlers.ts'
import type { TrackedAnswer } from './answering.ts'
import type { Explain } from './explain.ts'
import { interimAfterMs, slowClickWords, slowWords } from './interim-answer.ts'

/**
 * Waits at most 100 ms for the duplicate check before the acknowledgement, so that a hanging Redis does not delay it. The acknowledgement
 * does not need the result. But acknowledgements that wait for Redis go out together in one turn of the event loop, which costs 20 % less CPU.
 */
const acknowledgeWithinMs = 100

/** How long a form waits for the authorization. Then it opens anyway, before its trigger expires, and a refusal may replace it. */
const authorizeFirstMs = 1_500

interface ServeParts {
  authorize: Authorize
  openForm: OpenForm
  /** The duplicate check: whether this interaction is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  explain: Explain
}

interface Interaction {
  deliveryKey: string
  origin: Origin
  triggerId: string
  answer: TrackedAnswer
  /** The value of the button that was clicked. */
  value?: string
}

/** Acknowledges a command or a click, drops a duplicate, authorizes the person, and runs the handler or opens its form. */
export function createServe({ authorize, openForm, isFirstDelivery, explain }: ServeParts) {
  /** The interactions that are being served now. */
  const served = new Set<string>()

  return async function serve<I extends Interaction>(
    interaction: I,
    at: string,
    ack: () => Promise<void>,
    handler: NoInfer<Handler<I> | FormHandler<I>>,
  ): Promise<void> {
    const { deliveryKey, origin, triggerId, answer, value } = interaction
    const isFirst = isFirstDelivery(deliveryKey)
    await within(acknowledgeWithinMs, isFirst)
    await ack()
    // A person who presses a button again while the first press is served gets one interim answer.
    const press = value === undefined ? deliveryKey : [origin.userId, at, value].join(' ')
    const isAgain = served.has(press)
    served.add(press)
    const onMessage = value !== undefined && origin.channelId !== ''
    const interim = setTimeout(() => {
      if (!answer.given() && !isAgain) void answer.interim(notice(onMessage ? slowClickWords : slowWords))
    }, interimAfterMs)
    try {
      if (!(await isFirst)) return
      const authorized = authorize(origin, at)
      // A refusal is thrown where `authorized` is awaited. Until then it must not count as an unhandled rejection.
      authorized.catch(() => {})
      if (typeof handler === 'function') {
        await authorized
        await handler(interaction)
        return
      }
      if (handler.reads) await authorized
      else await within(authorizeFirstMs, authorized)
      const opened = openForm(triggerId, await handler.form(interaction), async () => {
        await authorized
        await handler.allow(interaction)
        // The form itself says that the result follows.
        if (handler.fill) clearTimeout(interim)
        return handler.fill?.(interaction).catch((error: unknown) => noticeView(explain(error, at)))
      })
      await opened.catch(async (error: unknown) => {
        // If the person may not use the form, the refusal is the better answer, and not that the form failed to open.
        await authorized
        throw error
      })
    } catch (error) {
      await answer.ephemeral(notice(explain(error, at)))
    } finally {
      clearTimeout(interim)
      if (!isAgain) served.delete(press)
    }
  }
}
export type Serve = ReturnType<typeof createServe>
