import type { z } from 'zod'
import { Refusal } from './errors.ts'
import type { Explain, OnError } from './explain.ts'
import { type Authorize, type Choices, handlerOf, type Interactions } from './interaction.ts'
import { type OptionsPayload, originOf, valuesOf } from './payloads.ts'
import { sentence } from './picker.ts'
import { inTime } from './prompt-answer.ts'
import { mrkdwn, toPlainText } from './text.ts'

interface TakeOptionsParts {
  interactions: Pick<Interactions, 'options'>
  authorize: Authorize
  explain: Explain
  onError: OnError
}

/** Answers a picker, with choices or with a sentence in their place. */
export function createTakeOptions({ interactions, authorize, explain, onError }: TakeOptionsParts) {
  return async function takeOptions(payload: z.infer<typeof OptionsPayload>, ack: (choices: Choices) => Promise<void>): Promise<void> {
    const load = handlerOf(interactions.options, payload.action_id)
    const origin = originOf(payload)
    try {
      if (!load) throw new Refusal(mrkdwn`This form is out of date. Close it and run the command again.`)
      const query = {
        actionId: payload.action_id,
        origin,
        typed: payload.value,
        metadata: payload.view?.private_metadata ?? '',
        values: valuesOf(payload.view?.state),
      }
      const found = await inTime(authorize(origin, `options ${payload.action_id}`).then(() => load(query)))
      if (found.is === 'late') found.work.catch((error) => onError(error, { at: `options ${payload.action_id}` }))
      await ack(found.is === 'ready' ? found.value : sentence('The account API is slow just now. Type again in a moment.'))
    } catch (error) {
      await ack(sentence(toPlainText(explain(error, `options ${payload.action_id}`))))
    }
  }
}
