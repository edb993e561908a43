import type { ModalView } from '@slack/web-api'
import type { Change } from '../../domain/change.ts'
import type { Filling } from '../../requests/interactions/filled-form.ts'
import { submitFromForm } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import { reasonBlockId, reasonIn } from '../../slack/blocks/inputs.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { KeyFacts, type KeyInput } from './key.ts'
import { keyChangeModal, keyIn, type Verb, withKey } from './modal.ts'

interface KeyChangeFormParts {
  submit: Submit
  verb: Verb
  change: Change<KeyInput, KeyFacts>
}

/** Creates the form of a rotation or a revocation. `filledForm` shows it for a key, and `submitForm` requests the change. */
export function createKeyChangeForm({ submit, verb, change }: KeyChangeFormParts) {
  function filledForm(metadata: string, { facts, reason, problem }: Filling): ModalView {
    return keyChangeModal({ verb, metadata: withKey(metadata, KeyFacts.parse(facts)), reason, problem })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { metadata, values } = submission
    const key = keyIn(metadata)
    if (!key) throw new Refusal(mrkdwn`This form is out of date. Run the command again.`)
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) => keyChangeModal({ verb, metadata, reason, problem })
    return submitFromForm(submit, submission, { change, input: { keyId: key.keyId }, reason, blockId: reasonBlockId, again })
  }

  return { filledForm, submitForm }
}
