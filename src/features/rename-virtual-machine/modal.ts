import type { ModalView, PlainTextOption } from '@slack/web-api'
import { purposeOf } from '../../requests/messages/forms/purpose.ts'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { problemBlocks } from '../../slack/blocks/blocks.ts'
import { input, plainTextInput } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { externalSelect } from '../../slack/blocks/selects.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

export const renameForm = {
  callbackId: 'rename-virtual-machine',
  title: 'Rename a virtual machine',
  virtualMachine: 'virtual-machine',
  newName: 'new-name',
} as const

interface RenameFormView {
  metadata: string
  virtualMachine?: PlainTextOption | undefined
  newName?: string | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function renameModal({ metadata, virtualMachine, newName, reason, problem }: RenameFormView): ModalView {
  const purpose = purposeOf(metadata, [virtualMachine?.value, newName], renameForm.title)
  return modal({
    callbackId: renameForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: renameForm.virtualMachine,
        label: 'Virtual machine',
        hint: 'Search by name, id, address, project or site.',
        element: externalSelect({
          actionId: renameForm.virtualMachine,
          placeholder: 'Choose a virtual machine',
          initialOption: virtualMachine,
        }),
      }),
      input({
        blockId: renameForm.newName,
        label: 'New name',
        hint: 'Also its hostname: letters (a–z, A–Z), digits, hyphens and dots.',
        element: plainTextInput({ actionId: renameForm.newName, initialValue: newName }),
      }),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}
