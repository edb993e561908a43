import type { ModalView } from '@slack/web-api'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { problemBlocks } from '../../slack/blocks/blocks.ts'
import { input, plainTextInput } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { option } from '../../slack/blocks/option.ts'
import { radioButtons } from '../../slack/blocks/selects.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

export const keyForm = {
  callbackId: 'create-api-key',
  title: 'Create an API key',
  name: 'key-name',
  access: 'key-access',
  addresses: 'key-addresses',
} as const

const readOnly = option({ text: 'Read-only', value: 'read-only', description: 'Can read everything and change nothing' })
const fullAccess = option({ text: 'Full access', value: 'full', description: 'Can read and change everything on the account' })

interface KeyFormView {
  metadata: string
  name?: string | undefined
  fullAccess?: boolean | undefined
  addresses?: string | undefined
  reason?: string | undefined
  problem?: Mrkdwn | undefined
}

export function keyModal(view: KeyFormView): ModalView {
  return modal({
    callbackId: keyForm.callbackId,
    title: keyForm.title,
    submit: 'Request approval',
    metadata: view.metadata,
    blocks: [
      ...problemBlocks(view.problem),
      input({
        blockId: keyForm.name,
        label: 'Name',
        hint: 'What it is for, such as ci-deploy. Lockkeeper adds your Slack id and the request id.',
        element: plainTextInput({ actionId: keyForm.name, maxLength: 60, initialValue: view.name }),
      }),
      input({
        blockId: keyForm.access,
        label: 'Access',
        element: radioButtons({
          actionId: keyForm.access,
          options: [readOnly, fullAccess],
          initialOption: view.fullAccess ? fullAccess : readOnly,
        }),
      }),
      input({
        blockId: keyForm.addresses,
        label: 'Allowed addresses',
        hint: 'Addresses or ranges such as 203.0.113.0/24, separated by spaces or commas. Leave empty to allow any IP.',
        optional: true,
        element: plainTextInput({ actionId: keyForm.addresses, maxLength: 1_000, initialValue: view.addresses }),
      }),
      ...reasonField(view.metadata, view.reason),
    ],
  })
}
