import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { submitFromCommand } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createMoveChange } from './change.ts'
import { createMoveForm } from './form.ts'
import { usage } from './messages.ts'
import { moveForm, moveModal } from './modal.ts'
import { elasticIpChoices } from './pickers.ts'
import { createResolve } from './resolve.ts'
import { createServerPicker } from './server-picker.ts'

interface MoveElasticIpParts {
  accountApi: AccountApi
  inventory: Inventory
  submit: Submit
}

/** `/infra ip move`: requests to move an Elastic IP to another server, by arguments or by a form. */
export const moveElasticIp = { kinds: ['ip.move'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit }: MoveElasticIpParts): Feature {
  const change = createMoveChange(accountApi)
  const resolve = createResolve(accountApi)
  const { formAgain, formFor, submitForm } = createMoveForm({ submit, change })
  const { offerServers, elasticIpChosen } = createServerPicker(inventory)

  async function run(call: CommandCall): Promise<void> {
    const [elasticIp, server, ...rest] = call.args
    if (elasticIp === undefined || server === undefined || rest.length > 0) throw new Refusal(usage(call.slashCommand.origin.command))
    const input = await resolve(elasticIp, server, { signal: AbortSignal.timeout(8_000) })
    await submitFromCommand(submit, call, { change, input })
  }

  const command: Command = {
    words: 'ip move',
    usage: '[<elastic ip> <server>]',
    summary: 'Moves an Elastic IP to another server of its project and site. Without arguments a form opens.',
    example: '203.0.113.10 web-2',
    need: 'ip.move',
    form: (metadata) => moveModal({ metadata }),
    prepare: () => inventory.prefetch('elasticIps', 'servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { 'ip.move': formAgain },
    itemActions: [{ of: 'elastic-ip', kind: 'ip.move', label: 'Move…', form: formFor }],
    clicks: { [moveForm.elasticIp]: elasticIpChosen },
    submissions: { [moveForm.callbackId]: submitForm },
    options: {
      [moveForm.elasticIp]: async ({ typed }) => {
        const { items, cut } = await asFarAsRead(inventory.elasticIps())
        return elasticIpChoices(items, typed, cut)
      },
      [moveForm.server]: offerServers,
    },
  }
}
