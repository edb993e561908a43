import type { AccountApi } from '../../account-api/client.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { findKeys } from '../../domain/api-key-name.ts'
import type { Change } from '../../domain/change.ts'
import { UserError } from '../../domain/errors.ts'
import { someOf } from '../../domain/some-of.ts'
import { submitFromCommand } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createKeyForm } from './item-form.ts'
import type { KeyFacts, KeyInput } from './key.ts'
import { createRevokeChange } from './revoke.ts'
import { createRotateChange } from './rotate.ts'

interface RotateRevokeParts {
  accountApi: Pick<AccountApi, 'apiKeys'>
  submit: Submit
  ownLastSlice: string
}

/** `/infra keys rotate` and `/infra keys revoke`: request a new token for an API key, or its deletion. */
export const rotateRevokeApiKey = { kinds: ['key.rotate', 'key.revoke'], create } satisfies FeatureDefinition

function create({ accountApi, submit, ownLastSlice }: RotateRevokeParts): Feature {
  const rotate = createRotateChange({ accountApi, ownLastSlice })
  const revoke = createRevokeChange({ accountApi, ownLastSlice })
  const rotateForm = createKeyForm({
    submit,
    change: rotate,
    verb: 'Rotate',
    effect: 'The old token stops working. The new one is shown to you alone, once, after the approval.',
  })
  const revokeForm = createKeyForm({ submit, change: revoke, verb: 'Revoke', effect: 'The key stops working at once.' })

  function command(verb: 'rotate' | 'revoke', summary: string, change: Change<KeyInput, KeyFacts>): Command {
    async function run(call: CommandCall): Promise<void> {
      const { command } = call.slashCommand.origin
      if (call.args.length === 0)
        throw new UserError(`Which key? Give its name or id: ${command} keys ${verb} <key>. ${command} keys shows all of them.`)
      const keys = await accountApi.apiKeys.list({ signal: AbortSignal.timeout(8_000) })
      const keyId = chooseKey(keys, call.args.join(' '))
      await submitFromCommand(submit, call, { change, input: { keyId } })
    }
    return { words: `keys ${verb}`, usage: '<key>', summary, example: 'ci-deploy', need: change.kind, run }
  }

  return {
    commands: [
      command(
        'rotate',
        'Asks for a new token of an API key, by name or id. The old token stops working; the new one is shown to you alone, once.',
        rotate,
      ),
      command('revoke', 'Asks for the end of an API key, by name or id.', revoke),
    ],
    changes: [rotate, revoke],
    submissions: { ...rotateForm.submissions, ...revokeForm.submissions },
    itemActions: [
      { of: 'api-key', kind: 'key.rotate', label: 'Rotate…', form: rotateForm.formFor },
      { of: 'api-key', kind: 'key.revoke', label: 'Revoke…', style: 'danger', form: revokeForm.formFor },
    ],
  }
}

/** Returns the id of the key that a person typed. Throws UserError if no key or more than one fits. */
export function chooseKey(keys: ApiKey[], typed: string): string {
  const [only, ...others] = findKeys(keys, typed)
  if (!only) throw new UserError(`There is no API key ${typed} on the account. “keys” shows all of them.`)
  if (others.length === 0) return only.id
  const list = [only, ...others].map((key) => `${key.id} (${key.name}, ends in ${key.tokenLastSlice ?? '?'})`)
  throw new UserError(`There are ${others.length + 1} API keys called ${typed}: ${someOf(list)}. Give the id of the one you mean.`)
}
