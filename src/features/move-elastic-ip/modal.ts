import type { ModalView, PlainTextOption } from '@slack/web-api'
import { purposeOf } from '../../requests/messages/forms/purpose.ts'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { problemBlocks } from '../../slack/blocks/blocks.ts'
import { input } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { externalSelect } from '../../slack/blocks/selects.ts'
import type { Values } from '../../slack/commands/handlers.ts'
import { readMetadata } from '../../slack/receive/metadata.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

export const moveForm = {
  callbackId: 'move-elastic-ip',
  title: 'Move an Elastic IP',
  elasticIp: 'elastic-ip',
  server: 'server',
} as const

/** The id of the button that opens the form for an Elastic IP that was looked up. */
export const moveThis = 'move-this-elastic-ip'

interface MoveFormView {
  metadata: string
  elasticIp?: PlainTextOption | undefined
  server?: PlainTextOption | undefined
  /** The block id of the server. Default: `server`. */
  serverBlock?: string | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

/**
 * Returns the block id of the server for an Elastic IP. A new id makes Slack drop the options and the choice that belong to the Elastic IP
 * chosen before.
 */
export function serverBlockFor(elasticIpId: string | undefined): string {
  return `${moveForm.server}:${elasticIpId ?? ''}`
}

/** Finds the block id of the server in a form as it was filled in. */
export function serverBlockIn(values: Values): string {
  return Object.keys(values).find((blockId) => blockId.startsWith(`${moveForm.server}:`)) ?? moveForm.server
}

export function moveModal({ metadata, elasticIp, server, serverBlock = moveForm.server, reason, problem }: MoveFormView): ModalView {
  const purpose = purposeOf(metadata, [elasticIp?.value, server?.value], moveForm.title)
  return modal({
    callbackId: moveForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: moveForm.elasticIp,
        // The offered servers depend on this choice, and Slack does not send it with an option load.
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
        // What the form is called depends on this choice if an earlier request filled it.
        dispatchAction: readMetadata(metadata)?.filled !== undefined,
        label: 'Server',
        hint: 'Must be in the same project and site. Search by hostname, id, address, project or site.',
        element: externalSelect({
          actionId: moveForm.server,
          placeholder: 'Choose a server',
          minQueryLength: 0,
          ...(server ? { initialOption: server } : {}),
        }),
      }),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}
