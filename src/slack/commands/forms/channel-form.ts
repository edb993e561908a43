import type { ModalView } from '@slack/web-api'
import { problemBlocks } from '../../blocks/blocks.ts'
import { input } from '../../blocks/inputs.ts'
import { modal } from '../../blocks/modal.ts'
import { conversationsSelect } from '../../blocks/selects.ts'
import { type Metadata, writeMetadata } from '../../receive/metadata.ts'
import type { Mrkdwn } from '../../text/text.ts'
import type { Values } from '../handlers.ts'

export const channelFormId = 'choose-channel'
export const channelBlock = 'channel'

interface ChannelFormView {
  metadata: Metadata
  /** The title of the form that follows. */
  title: string
  channelId?: string | undefined
  problem?: Mrkdwn | undefined
}

/** Renders the form that asks for the channel of a request, before the form of the change. */
export function channelForm({ metadata, title, channelId, problem }: ChannelFormView): ModalView {
  return modal({
    callbackId: channelFormId,
    title,
    submit: 'Next',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: channelBlock,
        label: 'Channel',
        hint: 'The request is posted there for approval.',
        element: conversationsSelect({ actionId: channelBlock, placeholder: 'Choose a channel', initial: channelId }),
      }),
    ],
  })
}

/** Returns the chosen channel. Returns undefined if the value is not the id of a channel. */
export function chosenChannel(values: Values): string | undefined {
  const chosen = values[channelBlock] ?? ''
  return /^[CG][A-Z0-9]{2,29}$/.test(chosen) ? chosen : undefined
}
