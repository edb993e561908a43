import type { ModalView } from '@slack/web-api'
import type { Origin } from '../../../domain/approval/origin.ts'
import type { Requester } from '../../../domain/approval/people.ts'
import { CheckFailed } from '../../../domain/errors/errors.ts'
import { reasonBlockId } from '../../../slack/blocks/reason-input.ts'
import type { CommandCall } from '../../../slack/commands/commands.ts'
import type { OpenForm } from '../../../slack/commands/forms/form.ts'
import { formMetadata } from '../../../slack/commands/forms/form-metadata.ts'
import type { Submission, SubmissionAnswer } from '../../../slack/commands/handlers.ts'
import { nothingRequested, Refusal, toUserWords } from '../../../slack/errors.ts'
import { readMetadata } from '../../../slack/receive/metadata.ts'
import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { ReasonRequired } from '../../access/reason-required.ts'
import type { RequestedChange } from '../../lifecycle/submit/requested-change.ts'
import type { Submit } from '../../lifecycle/submit/submit.ts'
import { submittedWords } from '../../messages/forms/submitted.ts'
import type { FilledForm } from './filled-form.ts'

type ChangeAndInput<Input, Facts> = Pick<RequestedChange<Input, Facts>, 'change' | 'input'>

/** What submits a command, and opens a form if something is missing. */
export interface CommandSubmit {
  submit: Submit
  openForm: OpenForm
}

export interface CommandRequest<Input, Facts> extends ChangeAndInput<Input, Facts> {
  /** Opens if the rule requires a reason and none was typed. */
  form: FilledForm
}

/** Submits the request of a command, and says to the requester what follows. Throws what `submit` throws. */
export async function submitFromCommand<Input, Facts>(
  parts: CommandSubmit,
  { slashCommand, requester, say }: Pick<CommandCall, 'slashCommand' | 'requester' | 'say'>,
  requested: CommandRequest<Input, Facts>,
): Promise<void> {
  const words = await submitTyped(parts, { ...slashCommand, requester }, requested)
  if (words) await say(words)
}

interface Typed {
  origin: Origin
  deliveryKey: string
  triggerId: string
  responseUrl: string | undefined
  reason?: string | undefined
  requester?: Requester | undefined
}

/** Submits what was typed, and returns what follows in words. Undefined if the form opened, because the rule requires a reason. */
export async function submitTyped<Input, Facts>(
  { submit, openForm }: CommandSubmit,
  typed: Typed,
  { change, input, form }: CommandRequest<Input, Facts>,
): Promise<Mrkdwn | undefined> {
  const { origin, deliveryKey, reason, requester } = typed
  try {
    return submittedWords(await submit({ change, input, origin, requester, reason, deliveryKey }))
  } catch (error) {
    if (!(error instanceof ReasonRequired)) throw nothingRequested(error)
    await askForReason(openForm, typed, error, form)
    return undefined
  }
}

/** Opens the form with everything that was typed. The reads may have taken longer than Slack's trigger lasts. */
async function askForReason(openForm: OpenForm, typed: Typed, { rule, draft, words }: ReasonRequired, form: FilledForm): Promise<void> {
  const view = form(formMetadata(typed, rule), { ...draft, reason: undefined, problem: mrkdwn`${words} Nothing was requested yet.` })
  try {
    await openForm(typed.triggerId, view, async () => {})
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(mrkdwn`${words} Nothing was requested. Add it at the end of the command: *because* and the reason.`)
  }
}

interface FormRequest<Input, Facts> extends ChangeAndInput<Input, Facts> {
  reason: string | undefined
  /** The field that shows a refusal. */
  blockId: string | ((error: unknown) => string)
  /** Renders the form again, with what was entered. */
  again: (problem: Mrkdwn) => ModalView
}

/** Submits the request of a form. If it is refused, the form stays open and shows why. Throws errors that are no refusals. */
export async function submitFromForm<Input, Facts>(
  submit: Submit,
  { origin, metadata, deliveryKey }: Pick<Submission, 'origin' | 'metadata' | 'deliveryKey'>,
  { change, input, reason, blockId, again }: FormRequest<Input, Facts>,
): Promise<SubmissionAnswer> {
  const before = readMetadata(metadata)
  try {
    const { undoes, repeats, message: fromMessage } = before ?? {}
    const outcome = await submit({
      change,
      input,
      origin,
      reason,
      undoes: undoes?.id,
      repeats: repeats?.id,
      fromMessage,
      deliveryKey,
    })
    return { is: 'accepted', words: submittedWords(outcome), title: 'Request sent' }
  } catch (error) {
    // The form stays open beside the words of a check.
    const problem = toUserWords(error instanceof CheckFailed ? error : nothingRequested(error))
    if (problem === undefined) throw error
    return { is: 'refused', problems: { [fieldOf(error, blockId)]: problem }, again }
  }
}

function fieldOf(error: unknown, blockId: string | ((error: unknown) => string)): string {
  if (error instanceof ReasonRequired) return reasonBlockId
  return typeof blockId === 'string' ? blockId : blockId(error)
}
