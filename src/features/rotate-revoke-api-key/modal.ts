import type { ModalView, PlainTextOption } from '@slack/web-api'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { problemBlocks } from '../../slack/blocks/blocks.ts'
import { input } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { externalSelect } from '../../slack/blocks/selects.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

export const keyPicker = 'api-key'

/** The callback ids of the two forms. */
export const callbackIds = { rotate: 'rotate-api-key', revoke: 'revoke-api-key' } as const
export type Verb = keyof typeof callbackIds

const titles = { rotate: 'Rotate an API key', revoke: 'Revoke an API key' } as const
const hints = {
  rotate: 'After the approval, you press “Rotate key”. The old token stops working then, and the new one is shown once, only to you.',
  revoke: 'Its token stops working as soon as the request is approved.',
} as const

interface KeyChoiceView {
  metadata: string
  apiKey?: PlainTextOption | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function keyChoiceModal(verb: Verb, { metadata, apiKey, reason, problem }: KeyChoiceView): ModalView {
  return modal({
    callbackId: callbackIds[verb],
    title: titles[verb],
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: keyPicker,
        label: 'API key',
        hint: hints[verb],
        element: externalSelect({ actionId: keyPicker, placeholder: 'Choose an API key', initialOption: apiKey }),
      }),
      ...reasonField(metadata, reason),
    ],
  })
}
