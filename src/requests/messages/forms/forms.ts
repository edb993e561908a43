import type { ModalView } from '@slack/web-api'
import type { Phrase } from '../../../domain/text/phrase.ts'
import { problemBlocks, wholeSection } from '../../../slack/blocks/blocks.ts'
import { input } from '../../../slack/blocks/inputs.ts'
import { modal } from '../../../slack/blocks/modal.ts'
import { option } from '../../../slack/blocks/option.ts'
import { reasonInput } from '../../../slack/blocks/reason-input.ts'
import { checkboxes } from '../../../slack/blocks/selects.ts'
import { type Metadata, writeMetadata } from '../../../slack/receive/metadata.ts'
import { boldPhrase } from '../../../slack/text/phrase-words.ts'
import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { breakGlassCallbackId, rejectCallbackId } from '../buttons.ts'

// The forms for every kind of change. `problem` is shown at the top, and says why the form was refused. `entered` is the reason so far.

export function rejectForm(metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: rejectCallbackId,
    title: 'Reject request',
    submit: 'Reject',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(boldPhrase(title)),
      decisionReason('Everyone in the channel can read it in the thread.', entered),
    ],
  })
}

/** Renders the form for an emergency approval by the requester. The tick below the reason is the second confirmation. */
export function breakGlassForm(metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string): ModalView {
  const words = mrkdwn`${boldPhrase(title)}\nYou requested this. In an emergency, you can approve it alone. It then takes effect at once. The channel sees your reason, and the audit records it as break-glass.`
  return modal({
    callbackId: breakGlassCallbackId,
    title: 'Emergency approval',
    submit: 'Approve alone',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(words),
      decisionReason("Why can't this wait for an approver?", entered),
      input({
        blockId: 'confirmed',
        label: 'Confirm',
        element: checkboxes({
          actionId: 'confirmed',
          options: [option({ text: 'I approve my own request', value: 'yes' })],
          ticked: [],
        }),
      }),
    ],
  })
}

function decisionReason(hint: string, entered: string | undefined) {
  return reasonInput({ entered, hint, optional: false, multiline: true })
}
