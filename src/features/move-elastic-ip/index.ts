import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { Offer } from '../../domain/change/offer.ts'
import { createMoveChange, moveKind } from '../../moves/move-change.ts'
import type { Access } from '../../requests/access/access.ts'
import { createChooseOne } from '../../requests/interactions/forms/choose-one.ts'
import { type CommandSubmit, submitFromCommand } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import { withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { areElasticIps, isWholeMove, readMove } from './arguments.ts'
import { createFillMove } from './fill.ts'
import { createMoveForm } from './form.ts'
import { moveThisOne, oneAtATime, usage, whichServer } from './messages.ts'
import { moveForm, moveThis } from './modal.ts'
import { createMoveThis } from './move-this.ts'
import { elasticIpChoices } from './pickers.ts'
import { createResolve } from './resolve.ts'
import { createServerPicker } from './server-picker.ts'
import { namesOf } from './suggestions.ts'

interface MoveElasticIpParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Inventory
  access: Pick<Access, 'gateForm'>
}

/** `/infra ip move`: requests to move an Elastic IP to another server, by arguments or by a form. */
export const moveElasticIp = { kinds: [moveKind], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm, access }: MoveElasticIpParts): Feature {
  const change = {
    ...createMoveChange(accountApi, inventory),
    offer: { of: 'elastic-ip', label: 'Move…', actionId: moveThis } satisfies Offer,
  }
  const resolve = createResolve(accountApi, inventory)
  const { filledForm, formFor, submitForm } = createMoveForm({ submit, change })
  const { offerServers, elasticIpChosen, serverChosen } = createServerPicker(inventory)

  async function run(call: CommandCall): Promise<void> {
    const { first: elasticIp, second: server, rest } = readMove(call.args)
    const { reason, origin, answer } = call.slashCommand
    const { command } = origin
    if (elasticIp === undefined || server === undefined || rest.length > 0) {
      const given = [elasticIp, server].filter((word) => word !== undefined)
      throw new Refusal(server !== undefined && areElasticIps(elasticIp, server) ? oneAtATime(command) : usage(command, given, rest))
    }
    const search = resolve({ elasticIp, server }, { signal: AbortSignal.timeout(8_000) })
    const found = await withSuggestions(search, namesOf(inventory, command))
    if ('several' in found) return answer.ephemeral(whichServer(found.several, { typed: server, command, reason }))
    await submitFromCommand({ submit, openForm }, call, { change, input: found.input, form: filledForm })
  }

  const command: Command = {
    words: 'ip move',
    usage: '[<elastic ip> <server>]',
    group: 'Change',
    summary: 'Move an Elastic IP to another server',
    details: mrkdwn`The Elastic IP by address or id, the server by hostname or id, in the same project and site. An incomplete command opens a form.`,
    examples: ['203.0.113.10 web-2', '203.0.113.10'],
    need: moveKind,
    form: createFillMove(inventory),
    isComplete: isWholeMove,
    button: { text: 'Move IP', actionId: 'open-move-elastic-ip', opens: moveForm.title },
    shortcut: 'move-elastic-ip',
    prepare: () => inventory.prefetch('elasticIps', 'servers'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { [moveKind]: filledForm },
    itemActions: [{ of: 'elastic-ip', kind: moveKind, label: 'Move…', form: formFor }],
    clicks: {
      [moveForm.elasticIp]: elasticIpChosen,
      [moveForm.server]: serverChosen,
      [moveThis]: createMoveThis({ inventory, access }),
      [moveThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }),
    },
    submissions: { [moveForm.callbackId]: submitForm },
    options: {
      [moveForm.elasticIp]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.elasticIps())
        return elasticIpChoices(items, typed, missing)
      },
      [moveForm.server]: offerServers,
    },
  }
}
