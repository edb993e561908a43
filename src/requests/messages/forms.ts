import type { ModalView } from '@slack/web-api'
import { wholeSection } from '../../slack/blocks/blocks.ts'
import { input, option, plainTextInput, radioButtons } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { type Metadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { askAgainCallbackId, breakGlassCallbackId, rejectCallbackId } from './buttons.ts'

/** Forms that belong to every kind of change. All pure; `problem` stands on top, with what was entered kept below. */

export function rejectForm(metadata: Metadata, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: rejectCallbackId,
    title: 'Reject the request',
    submit: 'Reject',
    metadata: writeMetadata(metadata),
    blocks: [...warning(problem), reasonInput('The person who asked is told this in the thread.', entered)],
  })
}

/** For an emergency: the requester's own approval. The second confirmation is the choice below the reason. */
export function breakGlassForm(metadata: Metadata, sentence: string, problem?: Mrkdwn, entered?: string): ModalView {
  const words = mrkdwn`*${sentence}*\nYou asked for this yourself. In an emergency the rules let you approve it alone: it is carried out at once, the channel is told so with your reason, and it stands in the audit as break-glass.`
  return modal({
    callbackId: breakGlassCallbackId,
    title: 'Break the glass',
    submit: 'Approve alone',
    metadata: writeMetadata(metadata),
    blocks: [
      ...warning(problem),
      ...wholeSection(words),
      reasonInput('What cannot wait for another person?', entered),
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

/** The same request once more. */
export function askAgainForm(metadata: Metadata, sentence: string, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: askAgainCallbackId,
    title: 'Request again',
    submit: 'Ask for approval',
    metadata: writeMetadata(metadata),
    blocks: [
      ...warning(problem),
      ...wholeSection(mrkdwn`*${sentence}*`),
      reasonInput('Shown on the card to whoever decides.', entered, true),
    ],
  })
}

function warning(problem: Mrkdwn | undefined) {
  return problem ? wholeSection(mrkdwn`:warning: ${problem}`) : []
}

function reasonInput(hint: string, entered: string | undefined, optional = false) {
  const element = plainTextInput({ actionId: 'reason', multiline: true, maxLength: 500, ...(entered ? { initialValue: entered } : {}) })
  return input({ blockId: 'reason', label: 'Reason', hint, optional, element })
}
