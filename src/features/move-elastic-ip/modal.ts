import type { ModalView, PlainTextOption } from '@slack/web-api'
import { problemBlocks } from '../../slack/blocks/blocks.ts'
import { externalSelect, input, reasonInput } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import type { Values } from '../../slack/commands/handlers.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

export const moveForm = {
  callbackId: 'move-elastic-ip',
  elasticIp: 'elastic-ip',
  server: 'server',
} as const

export interface MoveFormView {
  metadata: string
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
  /** The block of the server, where it is not the usual one. */
  serverBlock?: string | undefined
  reason?: string | undefined
  /** Shown on top, with what was entered kept below. */
  problem?: Mrkdwn | undefined
}

/**
 * The block of the server once another Elastic IP was chosen: under an id of its own, so that Slack forgets the servers it has listed
 * for the one before, and the one that was chosen among them.
 */
export function serverBlockFor(elasticIpId: string | undefined): string {
  return `${moveForm.server}:${elasticIpId ?? ''}`
}

/** The block of the server in a form as it was filled in. */
export function serverBlockIn(values: Values): string {
  return Object.keys(values).find((blockId) => blockId.startsWith(`${moveForm.server}:`)) ?? moveForm.server
}

/** The form for a move. Pure. */
export function moveModal({ metadata, elasticIp, server, serverBlock = moveForm.server, reason, problem }: MoveFormView): ModalView {
  return modal({
    callbackId: moveForm.callbackId,
    title: 'Move an Elastic IP',
    submit: 'Ask for approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: moveForm.elasticIp,
        // The servers to choose from depend on it, and nothing else tells in time which one was chosen.
        dispatchAction: true,
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
        blockId: serverBlock,
        label: 'Server',
        hint: 'The server it is to answer from: in the same project and site. Search by hostname, id, address, project or site.',
        element: externalSelect({
          actionId: moveForm.server,
          placeholder: 'Choose a server',
          minQueryLength: 0,
          ...(server ? { initialOption: server } : {}),
        }),
      }),
      reasonInput({ entered: reason }),
    ],
  })
}
