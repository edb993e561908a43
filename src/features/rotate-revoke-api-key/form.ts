import type { Change } from '../../domain/change.ts'
import { submitFromForm } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { isChoice, keepChoice } from '../../slack/blocks/picker.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { KeyFacts, KeyInput } from './key.ts'
import { keyChoiceModal, keyPicker, type Verb } from './modal.ts'

/** Creates what the form of a rotation or a revocation does when it is submitted. */
export function createSubmitKeyForm(submit: Submit, verb: Verb, change: Change<KeyInput, KeyFacts>) {
  return async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { metadata, values, chosen } = submission
    const keyId = values[keyPicker]
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) => keyChoiceModal(verb, { metadata, apiKey: keepChoice(chosen[keyPicker]), reason, problem })
    if (!isChoice(keyId)) return { is: 'refused', blockId: keyPicker, problem: mrkdwn`Choose an API key.`, again }
    return submitFromForm(submit, submission, { change, input: { keyId }, reason, blockId: keyPicker, again })
  }
}
