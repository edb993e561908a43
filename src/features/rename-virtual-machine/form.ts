import type { ModalView } from '@slack/web-api'
import type { Change } from '../../domain/change/change.ts'
import { hostnameProblem } from '../../domain/text/hostname.ts'
import type { Filling } from '../../requests/interactions/forms/filled-form.ts'
import { submitFromForm } from '../../requests/interactions/forms/submit-from-slack.ts'
import type { Submit } from '../../requests/lifecycle/submit/submit.ts'
import { withPurpose } from '../../requests/messages/forms/purpose.ts'
import { isChoice, keepChoice, preset } from '../../slack/blocks/picker.ts'
import { reasonIn } from '../../slack/blocks/reason-input.ts'
import { refuseForm } from '../../slack/commands/forms/refuse-form.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { RenameFacts, RenameInput } from './change.ts'
import { chooseAnother, isAboutName } from './findings.ts'
import { hyphenated } from './messages.ts'
import { renameForm, renameModal } from './modal.ts'
import { virtualMachineOption } from './pickers.ts'

function wrongName(name: string): Mrkdwn | undefined {
  const problem = hostnameProblem(name)
  if (problem === undefined) return undefined
  const meant = hyphenated(name, [])
  return meant === undefined ? mrkdwn`${problem} ${chooseAnother}` : mrkdwn`A name can't contain spaces. Did you mean ${code(meant)}?`
}

/** Creates the form of a rename. `filledForm` shows it filled, `formFor` for one virtual machine, and `submitForm` requests the rename. */
export function createRenameForm({ submit, change }: { submit: Submit; change: Change<RenameInput, RenameFacts> }) {
  async function submitForm(submission: Submission): Promise<SubmissionAnswer> {
    const { values, chosen } = submission
    const virtualMachineId = values[renameForm.virtualMachine] ?? ''
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
    const refused = refuseForm(
      {
        [renameForm.virtualMachine]: isChoice(virtualMachineId) ? undefined : mrkdwn`Choose a virtual machine.`,
        [renameForm.newName]: wrongName(name),
      },
      again,
    )
    if (refused) return refused
    const blockId = (error: unknown) => (isAboutName(error) ? renameForm.newName : renameForm.virtualMachine)
    return submitFromForm(submit, submission, { change, input: { virtualMachineId, name }, reason, blockId, again })
  }

  function filledForm(metadata: string, { reason, problem, title, ...filling }: Filling): ModalView {
    const [{ virtualMachineId: id, name }, facts] = [RenameInput.parse(filling.input), RenameFacts.parse(filling.facts)]
    return renameModal({
      metadata: withPurpose(metadata, [id, name], title),
      virtualMachine: virtualMachineOption({
        id,
        name: facts.oldName,
        primaryIpv4: facts.address,
        project: facts.project,
        site: facts.site,
      }),
      newName: name,
      reason,
      problem,
    })
  }

  /** Renders the form for one virtual machine, named as in a list. */
  function formFor(metadata: string, { id, text }: { id: string; text: string }): ModalView {
    return renameModal({ metadata, virtualMachine: preset({ text, value: id }) })
  }

  return { filledForm, formFor, submitForm }
}
