import type { ModalView } from '@slack/web-api'
import { z } from 'zod'
import type { Change } from '../../domain/change.ts'
import { submitFromForm } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import { problemBlocks, wholeSection } from '../../slack/blocks/blocks.ts'
import { reasonIn, reasonInput } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { readJson, readMetadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { KeyFacts, KeyInput } from './key.ts'

/** The key of a form, stored in the form's metadata. `text` is how the form shows it. */
const FormKey = z.object({ id: z.string(), text: z.string() })
type FormKey = z.infer<typeof FormKey>

interface KeyFormParts {
  submit: Submit
  change: Change<KeyInput, KeyFacts>
  /** `Rotate` */
  verb: 'Rotate' | 'Revoke'
  /** Says what happens to the key. */
  effect: string
}

/** Creates the form that requests a change of one API key, which was chosen in the list of keys. */
export function createKeyForm({ submit, change, verb, effect }: KeyFormParts) {
  const callbackId = `api-key:${change.kind}`

  function formFor(metadata: string, key: FormKey): ModalView {
    const known = readMetadata(metadata)
    return render(known ? writeMetadata({ ...known, extra: JSON.stringify(FormKey.parse(key)) }) : metadata, key)
  }

  function render(
    metadata: string,
    { text }: FormKey,
    { problem, reason }: { problem?: Mrkdwn; reason?: string | undefined } = {},
  ): ModalView {
    return modal({
      callbackId,
      title: `${verb} API key`,
      submit: 'Request approval',
      metadata,
      blocks: [...problemBlocks(problem), ...wholeSection(mrkdwn`*${verb}* ${code(text)}\n${effect}`), reasonInput({ entered: reason })],
    })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const key = readJson(FormKey, readMetadata(submission.metadata)?.extra ?? '')
    if (!key) throw new Refusal(mrkdwn`This form is out of date. Close it and run the command again.`)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) => render(submission.metadata, key, { problem, reason })
    return submitFromForm(submit, submission, { change, input: { keyId: key.id }, reason, blockId: 'reason', again })
  }

  return { formFor, submissions: { [callbackId]: submitForm } }
}
