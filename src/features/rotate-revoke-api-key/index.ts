import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { OwnLastSlices } from '../../domain/account/api-key.ts'
import { labelOf } from '../../domain/account/api-key-name.ts'
import type { Change } from '../../domain/change/change.ts'
import { type CommandSubmit, submitFromCommand } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { ItemAction } from '../../requests/interactions/item-details.ts'
import { preset } from '../../slack/blocks/picker.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import { withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { wholeCommand } from '../../slack/commands/help/whole-command.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { chooseKey, keyChoices } from './choose-key.ts'
import { createKeyForm } from './form.ts'
import type { KeyFacts, KeyInput } from './key.ts'
import { callbackIds, keyChoiceModal, keyPicker, type Verb } from './modal.ts'
import { createRevokeChange } from './revoke.ts'
import { createRotateChange } from './rotate.ts'

interface RotateRevokeParts extends CommandSubmit {
  accountApi: Pick<AccountApi, 'apiKeys'>
  inventory: Pick<Inventory, 'apiKeys' | 'prefetch'>
  ownLastSlices: OwnLastSlices
}

/** `/infra keys rotate` and `/infra keys revoke`: request a new token for an API key, or its deletion. */
export const rotateRevokeApiKey = { kinds: ['key.rotate', 'key.revoke'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm, ownLastSlices }: RotateRevokeParts): Feature {
  const rotate = createRotateChange({ accountApi, copies: inventory, ownLastSlices })
  const revoke = createRevokeChange({ accountApi, copies: inventory, ownLastSlices })
  const forms = { rotate: createKeyForm(submit, 'rotate', rotate), revoke: createKeyForm(submit, 'revoke', revoke) }

  async function run(verb: Verb, change: Change<KeyInput, KeyFacts>, call: CommandCall): Promise<void> {
    const keys = await inventory.apiKeys()
    const names = async () => keys.map(({ name }) => name && labelOf(name))
    const { origin, reason } = call.slashCommand
    const commandFor = (id: string) => wholeCommand(origin.command, { words: `keys ${verb}`, args: [id], reason })
    const chosen = (async () => chooseKey(keys, call.args.join(' '), commandFor))()
    const keyId = await withSuggestions(chosen, { 'API key': { names, list: `${origin.command} keys` } })
    await submitFromCommand({ submit, openForm }, call, { change, input: { keyId }, form: forms[verb].filledForm })
  }

  function command(verb: Verb, change: Change<KeyInput, KeyFacts>, words: Pick<Command, 'summary' | 'details' | 'examples'>): Command {
    return {
      words: `keys ${verb}`,
      group: 'Keys',
      usage: '[<key>]',
      ...words,
      need: change.kind,
      form: (metadata, { problem }) => keyChoiceModal(verb, { metadata, problem }),
      prepare: () => inventory.prefetch('apiKeys'),
      run: (call) => run(verb, change, call),
    }
  }

  return {
    commands: [
      command('rotate', rotate, {
        summary: 'Request a new token for an API key',
        details: mrkdwn`The key by name or id. ${keyFormOpens} After the approval, press *Rotate key*. The old token stops working, and the new one is shown once, only to you.`,
        examples: ['terraform', 'laptop of ada'],
      }),
      command('revoke', revoke, {
        summary: 'Request to revoke an API key',
        details: mrkdwn`The key by name or id. ${keyFormOpens} After the approval, the key is deleted and its token stops working.`,
        examples: ['laptop of ada'],
      }),
    ],
    changes: [rotate, revoke],
    forms: { [rotate.kind]: forms.rotate.filledForm, [revoke.kind]: forms.revoke.filledForm },
    itemActions: [
      { of: 'api-key', kind: rotate.kind, label: 'Rotate…', form: formFor('rotate') },
      { of: 'api-key', kind: revoke.kind, label: 'Revoke…', style: 'danger', form: formFor('revoke') },
    ],
    submissions: {
      [callbackIds.rotate]: forms.rotate.submitForm,
      [callbackIds.revoke]: forms.revoke.submitForm,
    },
    options: {
      [keyPicker]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.apiKeys())
        return keyChoices(items, typed, { own: ownLastSlices, missing })
      },
    },
  }
}

/** Renders the form for one key, named as in a list. */
function formFor(verb: Verb): ItemAction['form'] {
  return (metadata, { id, text }) => keyChoiceModal(verb, { metadata, apiKey: preset({ text, value: id }) })
}

const keyFormOpens: Mrkdwn = mrkdwn`Without a key: opens a form.`
