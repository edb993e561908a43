import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { commandOf } from '../blocks/blocks.ts'
import { type Click, type ClickedView, handlerOf, type InteractionHandlers } from '../commands/handlers.ts'
import { outdatedButton, Refusal } from '../errors.ts'
import { readMetadata } from '../receive/metadata.ts'
import { type ClickPayload, chosenOf, deliveryKey, readOrigin, tickedOf, type View, valuesOf } from '../receive/payloads.ts'
import type { Messenger } from '../web-api/messenger.ts'
import type { AnswerTo, TrackedAnswer } from './answering.ts'
import type { OnError } from './explain.ts'
import type { Serve } from './serve.ts'

interface TakeClickParts {
  handlers: Pick<InteractionHandlers, 'clicks'>
  messenger: Pick<Messenger, 'updateView'>
  answerTo: AnswerTo
  serve: Serve
  onError: OnError
  /** The slash command to name in answers, if the message names none. */
  command: string
}

/** Reads a click from its payload and serves it. A click without any id counts as new, not as a duplicate. */
export function createTakeClick({ handlers, messenger, answerTo, serve, onError, command }: TakeClickParts) {
  function clickedView({ id, private_metadata: metadata, state }: z.infer<typeof View>): ClickedView {
    return {
      id,
      metadata,
      values: valuesOf(state),
      chosen: chosenOf(state),
      ticked: tickedOf(state),
      async update(view) {
        const updated = await messenger.updateView(id, view)
        // The person may have closed the form, or may continue with the old one: every submission is checked anyway.
        if (updated.is !== 'sent') onError(new Error(`a form could not be updated: ${JSON.stringify(updated)}`), { at: 'update of a form' })
      },
    }
  }

  return async function takeClick(payload: z.infer<typeof ClickPayload>, ack: () => Promise<void>): Promise<void> {
    const [action] = payload.actions
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const { trigger_id: triggerId } = payload
    const responseUrl = payload.response_url ?? metadata?.responseUrl
    const read = readOrigin(payload)
    const origin = { ...read, command: read.command || commandOf(action.block_id) || command }
    const click: Click & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('click', payload.user.id, action.action_id, action.block_id, action.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId, isClick: true, isShared: payload.container?.is_ephemeral === false }),
      actionId: action.action_id,
      responseUrl,
      value: action.selected_option?.value ?? action.value ?? '',
      triggerId,
      messageTs: payload.container?.message_ts ?? payload.message?.ts,
      onHome: payload.view?.type === 'home',
      view: payload.view ? clickedView(payload.view) : undefined,
    }
    const handler = handlerOf(handlers.clicks, action.action_id) ?? refuseUnknown
    await serve(click, `click ${action.action_id}`, ack, handler)
  }
}

async function refuseUnknown(): Promise<void> {
  throw new Refusal(outdatedButton)
}
