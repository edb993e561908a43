import type { ModalView } from '@slack/web-api'
import type { CommandCall } from '../../slack/commands/commands.ts'
import type { Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { readMetadata } from '../../slack/receive/payloads.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import type { RequestedChange, Submit } from '../lifecycle/submit.ts'
import { submittedWords } from '../messages/submitted.ts'

type ChangeAndInput<Input, Facts> = Pick<RequestedChange<Input, Facts>, 'change' | 'input'>

/** Submits the request of a command, and says to the requester what follows. Throws what `submit` throws. */
export async function submitFromCommand<Input, Facts>(
  submit: Submit,
  call: CommandCall,
  requested: ChangeAndInput<Input, Facts>,
): Promise<void> {
  const { origin, deliveryKey } = call.slashCommand
  await call.say(submittedWords(await submit({ ...requested, origin, requester: call.requester, reason: undefined, deliveryKey })))
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
  const fromMessage = readMetadata(metadata)?.message
  try {
    return { is: 'accepted', words: submittedWords(await submit({ change, input, origin, reason, fromMessage, deliveryKey })) }
  } catch (error) {
    const problem = toUserWords(error)
    if (problem === undefined) throw error
    return { is: 'refused', blockId: typeof blockId === 'string' ? blockId : blockId(error), problem, again }
  }
}
