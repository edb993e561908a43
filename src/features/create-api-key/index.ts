import type { ModalView } from '@slack/web-api'
import type { AccountApi } from '../../account-api/client.ts'
import { isKeyLabel, labelOf, uniqueKeyName } from '../../domain/api-key-name.ts'
import { UserError } from '../../domain/errors.ts'
import { type Ask, requestIdFor } from '../../requests/lifecycle/submit.ts'
import { askedWords } from '../../requests/messages/submitted.ts'
import type { CommandCall } from '../../slack/commands/commands.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { parseAllowedAddresses } from './allowed-addresses.ts'
import { createNewKeyChange, NewKey } from './change.ts'
import { keyForm, keyModal } from './modal.ts'

interface CreateApiKeyParts {
  accountApi: Pick<AccountApi, 'apiKeys'>
  ask: Ask
}

const nameRule = 'A name has up to 60 letters, digits, spaces and . _ @ + -, and begins with a letter or digit.'

/** `/infra keys create`: a new API key, whose token is shown to its requester alone, once. */
export const createApiKey = { kinds: ['key.create'], create } satisfies FeatureDefinition

function create({ accountApi, ask }: CreateApiKeyParts): Feature {
  const change = createNewKeyChange(accountApi)

  async function run(call: CommandCall): Promise<void> {
    const label = call.args.join(' ')
    if (!isKeyLabel(label)) throw new UserError(nameRule)
    const { origin, deliveryKey } = call.slashCommand
    const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: true, allowedIps: [] }
    await call.say(askedWords(await ask({ change, input, origin, reason: undefined, deliveryKey })))
  }

  async function submit(submission: Submission): Promise<SubmissionAnswer> {
    const { values, origin, deliveryKey } = submission
    const label = values[keyForm.name]?.trim() ?? ''
    const { addresses, wrong } = parseAllowedAddresses(values[keyForm.addresses] ?? '')
    const fullAccess = values[keyForm.access] === 'full'
    const reason = values[keyForm.reason]?.trim() || undefined
    const again = (problem: Mrkdwn) =>
      keyModal({
        metadata: submission.metadata,
        name: label,
        fullAccess,
        addresses: values[keyForm.addresses],
        reason,
        problem: mrkdwn`:warning: ${problem}`,
      })
    if (!isKeyLabel(label)) return { is: 'refused', blockId: keyForm.name, problem: mrkdwn`${nameRule}`, again }
    if (wrong.length > 0) {
      const problem = mrkdwn`Neither an address nor a range: ${wrong.join(', ')}. Write 203.0.113.7 or 203.0.113.0/24.`
      return { is: 'refused', blockId: keyForm.addresses, problem, again }
    }
    try {
      const input = { name: uniqueKeyName(label, origin.userId, requestIdFor(deliveryKey)), readOnly: !fullAccess, allowedIps: addresses }
      return { is: 'accepted', words: askedWords(await ask({ change, input, origin, reason, deliveryKey })) }
    } catch (error) {
      const problem = toUserWords(error)
      if (problem === undefined) throw error
      return { is: 'refused', blockId: keyForm.name, problem, again }
    }
  }

  function formAgain(metadata: string, before: { input: unknown; reason: string | undefined }): ModalView {
    const { name, readOnly, allowedIps } = NewKey.parse(before.input)
    return keyModal({ metadata, name: labelOf(name), fullAccess: !readOnly, addresses: allowedIps.join(', '), reason: before.reason })
  }

  return {
    commands: [
      {
        words: 'keys create',
        usage: '[<name>]',
        summary: 'Asks for a new API key: with a name a read-only one, without one a form opens. Its token is shown to you alone, once.',
        example: 'ci-deploy',
        need: 'key.create',
        form: (metadata) => keyModal({ metadata }),
        run,
      },
    ],
    changes: [change],
    forms: { 'key.create': formAgain },
    submissions: { [keyForm.callbackId]: submit },
  }
}
