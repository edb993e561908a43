import type { ModalView } from '@slack/web-api'
import type { AccountApi } from '../../account-api/client.ts'
import { isKeyLabel, labelOf, uniqueKeyName } from '../../domain/account/api-key-name.ts'
import { UserError } from '../../domain/errors/errors.ts'
import type { Filling } from '../../requests/interactions/forms/filled-form.ts'
import { type CommandSubmit, submitFromCommand, submitFromForm } from '../../requests/interactions/forms/submit-from-slack.ts'
import { requestIdFor } from '../../requests/lifecycle/submit/build-request.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import type { CommandCall } from '../../slack/commands/commands.ts'
import { refuseForm } from '../../slack/commands/forms/refuse-form.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { parseAllowedAddresses } from './allowed-addresses.ts'
import { createNewKeyChange, NewKey } from './change.ts'
import { keyForm, keyModal } from './modal.ts'

interface CreateApiKeyParts extends CommandSubmit {
  accountApi: Pick<AccountApi, 'apiKeys'>
}

const nameRule = 'A name has up to 60 letters, digits, spaces and . _ @ + -. It begins with a letter or digit.'

function addressRule(wrong: string[]): Mrkdwn {
  return mrkdwn`Not an IP address, or too large a range: ${truncate(wrong.join(', '), 200, 'plain')}. Use 203.0.113.7 or 203.0.113.0/24.`
}

/** `/infra keys create`: requests a new API key. Only the requester sees its token, once. */
export const createApiKey = { kinds: ['key.create'], create } satisfies FeatureDefinition

function create({ accountApi, submit, openForm }: CreateApiKeyParts): Feature {
  const change = createNewKeyChange(accountApi)

  async function run(call: CommandCall): Promise<void> {
    const label = call.args.join(' ')
    if (!isKeyLabel(label)) throw new UserError(`${nameRule} Nothing was requested.`)
    const { origin, deliveryKey } = call.slashCommand
    const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: true, allowedIps: [] }
    await submitFromCommand({ submit, openForm }, call, { change, input, form: filledForm })
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, origin, deliveryKey } = submission
    const label = values[keyForm.name]?.trim() ?? ''
    const { addresses, wrong } = parseAllowedAddresses(values[keyForm.addresses] ?? '')
    const fullAccess = values[keyForm.access] === 'full'
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      keyModal({
        metadata: submission.metadata,
        name: label,
        fullAccess,
        addresses: values[keyForm.addresses],
        reason,
        problem,
      })
    const refused = refuseForm(
      {
        [keyForm.name]: isKeyLabel(label) ? undefined : mrkdwn`${nameRule}`,
        [keyForm.addresses]: wrong.length > 0 ? addressRule(wrong) : undefined,
      },
      again,
    )
    if (refused) return refused
    const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: !fullAccess, allowedIps: addresses }
    return submitFromForm(submit, submission, { change, input, reason, blockId: keyForm.name, again })
  }

  function filledForm(metadata: string, { input, reason, problem }: Filling): ModalView {
    const { name, readOnly, allowedIps } = NewKey.parse(input)
    return keyModal({ metadata, name: labelOf(name), fullAccess: !readOnly, addresses: allowedIps.join(', '), reason, problem })
  }

  return {
    commands: [
      {
        words: 'keys create',
        usage: '[<name>]',
        group: 'Keys',
        summary: 'Request a new API key',
        details: mrkdwn`With a name: a read-only key for any IP. Without: opens a form for access and allowed addresses. After the approval, press *Create key*. Its token is shown once, only to you.`,
        examples: ['ci-deploy'],
        need: 'key.create',
        form: (metadata) => keyModal({ metadata }),
        button: { text: 'New key', actionId: 'open-create-api-key', opens: keyForm.title },
        run,
      },
    ],
    changes: [change],
    forms: { 'key.create': filledForm },
    submissions: { [keyForm.callbackId]: submitForm },
  }
}
