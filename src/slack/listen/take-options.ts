import type { PlainTextElement, PlainTextOption } from '@slack/web-api'
import type { z } from 'zod'
import { within } from '../../domain/within.ts'
import { longestNote, noticeOptions } from '../blocks/picker.ts'
import { type Authorize, type Choices, handlerOf, type InteractionHandlers } from '../commands/handlers.ts'
import { Refusal } from '../errors.ts'
import { type OptionsPayload, readOrigin, valuesOf } from '../receive/payloads.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from '../text/text.ts'
import { plain } from '../text/text-objects.ts'
import type { Explain, OnError } from './explain.ts'
import { interimAfterMs } from './interim-answer.ts'
import { hasToken, tokenAdvice } from './refuse-tokens.ts'

interface TakeOptionsParts {
  handlers: Pick<InteractionHandlers, 'options'>
  authorize: Authorize
  explain: Explain
  onError: OnError
  withNames: (words: Mrkdwn) => Mrkdwn
  /** The slash command that notes name, if the form names none. */
  command: string
}

type OptionsAnswer = { options: PlainTextOption[] } | { option_groups: { label: PlainTextElement; options: PlainTextOption[] }[] }
type Acknowledge = (answer: OptionsAnswer) => Promise<void>

/** Answers a picker with options, or with a sentence in their place if they are late, refused or could not be read. */
export function createTakeOptions({ handlers, authorize, explain, onError, withNames, command }: TakeOptionsParts) {
  return async function takeOptions(payload: z.infer<typeof OptionsPayload>, ack: Acknowledge): Promise<void> {
    const load = handlerOf(handlers.options, payload.action_id)
    const read = readOrigin(payload)
    const origin = { ...read, command: read.command || command }
    try {
      if (!load) throw new Refusal(mrkdwn`This form is out of date. Close it and run the command again.`)
      if (hasToken(payload.value)) throw new Refusal(tokenAdvice)
      const query = {
        actionId: payload.action_id,
        origin,
        typed: payload.value,
        metadata: payload.view?.private_metadata ?? '',
        values: valuesOf(payload.view?.state),
      }
      const found = await within(
        interimAfterMs,
        authorize(origin, `options ${payload.action_id}`).then(() => load(query)),
      )
      if (found.is === 'late') found.work.catch((error) => onError(error, { at: `options ${payload.action_id}` }))
      await ack(optionsAnswer(found.is === 'ready' ? found.value : noticeOptions('The account API is slow. Type again in a moment.')))
    } catch (error) {
      await ack(optionsAnswer(noticeOptions(toPlainText(withNames(explain(error, `options ${payload.action_id}`))))))
    }
  }
}

/** Shows the note as the label of a group, because people can choose every option of a picker, but no label. */
export function optionsAnswer({ options, note }: Choices): OptionsAnswer {
  return note === undefined ? { options } : { option_groups: [{ label: plain(note, longestNote), options }] }
}
