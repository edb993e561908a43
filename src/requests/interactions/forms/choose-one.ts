import { notice } from '../../../slack/blocks/notice.ts'
import type { Click } from '../../../slack/commands/handlers.ts'
import { outdatedButton, Refusal } from '../../../slack/errors.ts'
import { readJson } from '../../../slack/receive/metadata.ts'
import { ChoiceButton } from '../../messages/forms/which-one.ts'
import { type CommandRequest, type CommandSubmit, submitTyped } from './submit-from-slack.ts'

type ChooseOneParts<Input, Facts> = CommandSubmit & Omit<CommandRequest<Input, Facts>, 'input'>

/**
 * Creates the button of one of several things of the same name. It continues the command as if the id had been typed, and the answer replaces
 * the buttons.
 */
export function createChooseOne<Input, Facts>({ submit, openForm, change, form }: ChooseOneParts<Input, Facts>) {
  return async function chooseOne({ value, origin, deliveryKey, triggerId, responseUrl, answer }: Click): Promise<void> {
    const button = readJson(ChoiceButton, value)
    const input = change.input.safeParse(button?.input)
    if (!button || !input.success) throw new Refusal(outdatedButton)
    const { command, reason } = button
    const typed = { origin: { ...origin, command }, deliveryKey, triggerId, responseUrl, reason }
    const words = await submitTyped({ submit, openForm }, typed, { change, input: input.data, form })
    if (words) await answer.replace(notice(words))
  }
}
