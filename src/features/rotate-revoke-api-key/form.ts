import type { ModalView } from '@slack/web-api'
import { labelOf } from '../../domain/account/api-key-name.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Filling } from '../../requests/interactions/forms/filled-form.ts'
import { submitFromForm } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit/submit.ts'
import { isChoice, keepChoice, preset } from '../../slack/blocks/picker.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { KeyFacts, type KeyInput } from './key.ts'
import { keyChoiceModal, keyPicker, type Verb } from './modal.ts'

/** Creates the form of a rotation or a revocation. `filledForm` shows it filled, and `submitForm` requests the change. */
export function createKeyForm(submit: Submit, verb: Verb, change: Change<KeyInput, KeyFacts>) {
  function filledForm(metadata: string, { facts, reason, problem }: Filling): ModalView {
    const { keyId, name } = KeyFacts.parse(facts)
    const apiKey = preset({ text: name === undefined ? keyId : labelOf(name), value: keyId, description: keyId })
    return keyChoiceModal(verb, { metadata, apiKey, reason, problem })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { metadata, values, chosen } = submission
    const keyId = values[keyPicker]
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) => keyChoiceModal(verb, { metadata, apiKey: keepChoice(chosen[keyPicker]), reason, problem })
    if (!isChoice(keyId)) return { is: 'refused', problems: { [keyPicker]: mrkdwn`Choose an API key.` }, again }
    return submitFromForm(submit, submission, { change, input: { keyId }, reason, blockId: keyPicker, again })
  }

  return { filledForm, submitForm }
}
