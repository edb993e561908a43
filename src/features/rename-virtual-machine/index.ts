import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { createChooseOne } from '../../requests/interactions/forms/choose-one.ts'
import { type CommandSubmit, submitFromCommand } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import { withSuggestions } from '../../slack/commands/help/unknown-name.ts'
import { readPair } from '../../slack/commands/read-pair.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createRenameChange, refuseBadName } from './change.ts'
import { createFillRename } from './fill.ts'
import { createRenameForm } from './form.ts'
import { hyphenated, noSpaces, renameThisOne, usage, whichMachine } from './messages.ts'
import { renameForm } from './modal.ts'
import { virtualMachineChoices } from './pickers.ts'
import { createResolve } from './resolve.ts'
import { namesOf } from './suggestions.ts'

interface RenameParts extends CommandSubmit {
  accountApi: AccountApi
  inventory: Pick<Inventory, 'virtualMachines' | 'prefetch'>
}

/** `/infra vm rename`: requests another name for a virtual machine, by arguments or by a form. */
export const renameVirtualMachine = { kinds: ['vm.rename'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit, openForm }: RenameParts): Feature {
  const change = createRenameChange(accountApi, inventory)
  const { filledForm, formFor, submitForm } = createRenameForm({ submit, change })

  async function run(call: CommandCall): Promise<void> {
    const { origin, answer, reason } = call.slashCommand
    const { first: typed, second: name, rest } = readPair(call.args)
    if (typed === undefined || name === undefined) throw new Refusal(usage(origin.command, [], []))
    const meant = hyphenated(name, rest)
    if (meant !== undefined) throw new Refusal(noSpaces(origin.command, { args: [typed, meant], reason }))
    if (rest.length > 0) throw new Refusal(usage(origin.command, [typed, name], rest))
    refuseBadName(name)
    const search = createResolve(accountApi, inventory)(typed, { signal: AbortSignal.timeout(8_000) })
    const found = await withSuggestions(search, namesOf(inventory, origin.command))
    if (found.is === 'several') return answer.ephemeral(whichMachine(found.machines, { typed, name, reason, command: origin.command }))
    await submitFromCommand({ submit, openForm }, call, { change, input: { virtualMachineId: found.id, name }, form: filledForm })
  }

  const command: Command = {
    words: 'vm rename',
    usage: '[<vm> <new name>]',
    group: 'Change',
    summary: 'Rename a virtual machine',
    details: mrkdwn`The machine by name or id. The new name is also its hostname: letters (a–z, A–Z), digits, hyphens and dots. An incomplete command opens a form.`,
    examples: ['preview-1 preview-eu-1', 'preview-1 to preview-eu-1', 'preview-1'],
    need: 'vm.rename',
    form: createFillRename(inventory),
    isComplete: (args) => readPair(args).second !== undefined,
    button: { text: 'Rename VM', actionId: 'open-rename-virtual-machine', opens: renameForm.title },
    prepare: () => inventory.prefetch('virtualMachines'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { 'vm.rename': filledForm },
    itemActions: [{ of: 'virtual-machine', kind: 'vm.rename', label: 'Rename…', form: formFor }],
    clicks: { [renameThisOne]: createChooseOne({ submit, openForm, change, form: filledForm }) },
    submissions: { [renameForm.callbackId]: submitForm },
    options: {
      [renameForm.virtualMachine]: async ({ typed }) => {
        const { items, ...missing } = await asFarAsRead(inventory.virtualMachines())
        return virtualMachineChoices(items, typed, missing)
      },
    },
  }
}
