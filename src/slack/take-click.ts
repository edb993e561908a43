import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { AnswerTo, TrackedAnswer } from './answering.ts'
import { Refusal } from './errors.ts'
import type { OnError } from './explain.ts'
import { type Click, type ClickedView, handlerOf, type Interactions } from './interaction.ts'
import type { Messenger } from './messenger.ts'
import { type ClickPayload, chosenOf, deliveryKey, originOf, readMetadata, type View, valuesOf } from './payloads.ts'
import type { Serve } from './serve.ts'
import { mrkdwn } from './text.ts'

const otherVersion = mrkdwn`This button is from another version of me, and I no longer know it. Ask again with the command.`

interface TakeClickParts {
  interactions: Pick<Interactions, 'clicks'>
  messenger: Pick<Messenger, 'updateView'>
  answerTo: AnswerTo
  serve: Serve
  onError: OnError
}

/** Turns a click into the act that it stands for. Without any id of the click it is taken for no repeat. */
export function createTakeClick({ interactions, messenger, answerTo, serve, onError }: TakeClickParts) {
  function clickedView({ id, private_metadata: metadata, state }: z.infer<typeof View>): ClickedView {
    return {
      id,
      metadata,
      values: valuesOf(state),
      chosen: chosenOf(state),
      async update(view) {
        const updated = await messenger.updateView(id, view)
        // The person has closed it meanwhile, or goes on with the form as it is: whatever it leads to is checked.
        if (updated.is !== 'sent') onError(new Error(`a form could not be updated: ${JSON.stringify(updated)}`), { at: 'update of a form' })
      },
    }
  }

  return async function takeClick(payload: z.infer<typeof ClickPayload>, ack: () => Promise<void>): Promise<void> {
    const [action] = payload.actions
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const { trigger_id: triggerId } = payload
    const responseUrl = payload.response_url ?? metadata?.responseUrl
    const origin = originOf(payload)
    const click: Click & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('click', payload.user.id, action.action_id, action.block_id, action.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId }),
      actionId: action.action_id,
      responseUrl,
      value: action.selected_option?.value ?? action.value ?? '',
      triggerId,
      messageTs: payload.container?.message_ts ?? payload.message?.ts,
      onHome: payload.view?.type === 'home',
      view: payload.view ? clickedView(payload.view) : undefined,
    }
    const handler = handlerOf(interactions.clicks, action.action_id) ?? refuseUnknown
    await serve(click, `click ${action.action_id}`, ack, handler)
  }
}

async function refuseUnknown(): Promise<void> {
  throw new Refusal(otherVersion)
}
