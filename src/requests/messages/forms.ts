import type { ModalView } from '@slack/web-api'
import { problemBlocks, wholeSection } from '../../slack/blocks/blocks.ts'
import { input, option, radioButtons, reasonInput } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { type Metadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { breakGlassCallbackId, rejectCallbackId } from './buttons.ts'

// The forms for every kind of change. `problem` is shown at the top, and says why the form was refused. `entered` is the reason so far.

export function rejectForm(metadata: Metadata, sentence: string, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: rejectCallbackId,
    title: 'Reject the request',
    submit: 'Reject',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(mrkdwn`*${sentence}*`),
      decisionReason('The person who asked is told this in the thread.', entered),
    ],
  })
}

/** Renders the form for an emergency approval by the requester. The choice below the reason is the second confirmation. */
export function breakGlassForm(metadata: Metadata, sentence: string, problem?: Mrkdwn, entered?: string): ModalView {
  const words = mrkdwn`*${sentence}*\nYou asked for this yourself. In an emergency the rules let you approve it alone: it is carried out at once, the channel is told so with your reason, and it stands in the audit as break-glass.`
  return modal({
    callbackId: breakGlassCallbackId,
    title: 'Break the glass',
    submit: 'Approve alone',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(words),
      decisionReason('What cannot wait for another person?', entered),
      input({
        blockId: 'confirmed',
        label: 'Are you sure?',
        element: radioButtons({
          actionId: 'confirmed',
          options: [
            option({ text: 'No, somebody else shall decide', value: 'no' }),
            option({ text: 'Yes, I approve my own request', value: 'yes' }),
          ],
        }),
      }),
    ],
  })
}

function decisionReason(hint: string, entered: string | undefined) {
  return reasonInput({ entered, hint, optional: false, multiline: true })
}
