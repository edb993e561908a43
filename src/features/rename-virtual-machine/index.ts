import type { ModalView } from '@slack/web-api'
import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { submitFromCommand, submitFromForm } from '../../requests/interactions/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit.ts'
import { submittedWords } from '../../requests/messages/submitted.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { isChoice, keepChoice } from '../../slack/blocks/picker.ts'
import type { Command, CommandCall } from '../../slack/commands/commands.ts'
import type { Click, Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { readJson } from '../../slack/receive/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createRenameChange, RenameFacts, RenameInput, refuseBadName } from './change.ts'
import { isAboutName } from './findings.ts'
import { RenameButton, renameThisOne, usage, whichOne } from './messages.ts'
import { renameForm, renameModal } from './modal.ts'
import { virtualMachineChoices, virtualMachineOption } from './pickers.ts'
import { createResolve } from './resolve.ts'

interface RenameParts {
  accountApi: AccountApi
  inventory: Pick<Inventory, 'virtualMachines' | 'prefetch'>
  submit: Submit
}

/** `/infra vm rename`: requests another name for a virtual machine, by arguments or by a form. */
export const renameVirtualMachine = { kinds: ['vm.rename'], create } satisfies FeatureDefinition

function create({ accountApi, inventory, submit }: RenameParts): Feature {
  const change = createRenameChange(accountApi)

  async function run(call: CommandCall): Promise<void> {
    const { origin, answer } = call.slashCommand
    const [typed, name, ...rest] = call.args
    if (typed === undefined || name === undefined || rest.length > 0) throw new Refusal(usage(origin.command))
    refuseBadName(name)
    const found = await createResolve(accountApi)(typed, { signal: AbortSignal.timeout(8_000) })
    if (found.is === 'several') return answer.ephemeral(whichOne(found.machines, { typed, name, command: origin.command }))
    await submitFromCommand(submit, call, { change, input: { virtualMachineId: found.id, name } })
  }

  /** Continues with one of several virtual machines of the same name, as if its id had been typed. The answer replaces the buttons. */
  async function choose({ value, origin, deliveryKey, answer }: Click): Promise<void> {
    const button = readJson(RenameButton, value)
    if (!button) throw new Refusal(mrkdwn`This button is out of date. Run the command again.`)
    const { id, name, command } = button
    const input = { virtualMachineId: id, name }
    const outcome = await submit({ change, input, origin: { ...origin, command }, reason: undefined, deliveryKey })
    await answer.replace(notice(submittedWords(outcome)))
  }

  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen } = submission
    const virtualMachineId = values[renameForm.virtualMachine]
    const name = values[renameForm.newName]?.trim() ?? ''
    const reason = reasonIn(values)
    const again = (problem: Mrkdwn) =>
      renameModal({
        metadata: submission.metadata,
        virtualMachine: keepChoice(chosen[renameForm.virtualMachine]),
        newName: name,
        reason,
        problem,
      })
    if (!isChoice(virtualMachineId)) {
      return { is: 'refused', blockId: renameForm.virtualMachine, problem: mrkdwn`Choose a virtual machine.`, again }
    }
    const blockId = (error: unknown) => (isAboutName(error) ? renameForm.newName : renameForm.virtualMachine)
    return submitFromForm(submit, submission, { change, input: { virtualMachineId, name }, reason, blockId, again })
  }

  function formAgain(metadata: string, before: { input: unknown; facts: unknown; reason: string | undefined }): ModalView {
    const [{ virtualMachineId: id, name }, facts] = [RenameInput.parse(before.input), RenameFacts.parse(before.facts)]
    return renameModal({
      metadata,
      virtualMachine: virtualMachineOption({
        id,
        name: facts.oldName,
        primaryIpv4: facts.address,
        project: facts.project,
        site: facts.site,
      }),
      newName: name,
      reason: before.reason,
    })
  }

  const command: Command = {
    words: 'vm rename',
    usage: '[<vm> <new name>]',
    summary: 'Renames a virtual machine, given by name or id. Without arguments a form opens.',
    example: 'web-1 web-eu-1',
    need: 'vm.rename',
    form: (metadata) => renameModal({ metadata }),
    prepare: () => inventory.prefetch('virtualMachines'),
    run,
  }

  return {
    commands: [command],
    changes: [change],
    forms: { 'vm.rename': formAgain },
    clicks: { [renameThisOne]: choose },
    submissions: { [renameForm.callbackId]: submitForm },
    options: {
      [renameForm.virtualMachine]: async ({ typed }) => {
        const { items, cut } = await asFarAsRead(inventory.virtualMachines())
        return virtualMachineChoices(items, typed, cut)
      },
    },
  }
}
