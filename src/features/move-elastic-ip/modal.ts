import type { ModalView, PlainTextOption } from '@slack/web-api'
import { externalSelect, input, plainTextInput, wholeSection } from '../../slack/blocks.ts'
import { modal } from '../../slack/modal.ts'
import type { Mrkdwn } from '../../slack/text.ts'

export const moveForm = {
  callbackId: 'move-elastic-ip',
  elasticIp: 'elastic-ip',
  server: 'server',
  reason: 'reason',
} as const

export interface MoveFormView {
  metadata: string
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
  reason?: string | undefined
  /** Shown on top, with what was entered kept below. */
  problem?: Mrkdwn | undefined
}

/** The form for a move. Pure. */
export function moveModal({ metadata, elasticIp, server, reason, problem }: MoveFormView): ModalView {
  return modal({
    callbackId: moveForm.callbackId,
    title: 'Move an Elastic IP',
    submit: 'Ask for approval',
    metadata,
    blocks: [
      ...(problem ? wholeSection(problem) : []),
      input({
        blockId: moveForm.elasticIp,
        label: 'Elastic IP',
        hint: 'Search by address, id, server, project or site.',
        element: externalSelect({
          actionId: moveForm.elasticIp,
          placeholder: 'Choose an Elastic IP',
          minQueryLength: 0,
          ...(elasticIp ? { initialOption: elasticIp } : {}),
        }),
      }),
      input({
        blockId: moveForm.server,
        label: 'Server',
        hint: 'The server it is to answer from: in the same project and site. Search by hostname, id, project or site.',
        element: externalSelect({
          actionId: moveForm.server,
          placeholder: 'Choose a server',
          minQueryLength: 0,
          ...(server ? { initialOption: server } : {}),
        }),
      }),
      input({
        blockId: moveForm.reason,
        label: 'Reason',
        hint: 'Shown on the card to whoever decides.',
        optional: true,
        element: plainTextInput({ actionId: moveForm.reason, maxLength: 500, ...(reason ? { initialValue: reason } : {}) }),
      }),
    ],
  })
}
