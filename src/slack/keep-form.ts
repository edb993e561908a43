import type { ViewResponseAction } from '@slack/bolt'
import { z } from 'zod'
import { wholeSection } from './blocks.ts'
import { modal } from './modal.ts'
import { type Mrkdwn, toPlainText } from './text.ts'

const Form = z.object({ blocks: z.array(z.unknown()) })
const InputBlock = z.object({ type: z.literal('input'), block_id: z.string().min(1) })

/**
 * Answers a submission so that the form and everything entered in it stay: the words stand at its first field. A form whose fields cannot
 * be read gets a view on top, and is as it was once that is closed (docs.slack.dev, "Modals": a view stack keeps the state of its views).
 * Slack stacks 3 views at most (docs.slack.dev, "views.push method"). There is room, because the bot stacks none otherwise. Pure.
 */
export function keepForm(view: unknown, words: Mrkdwn): ViewResponseAction {
  const blockId = firstInputOf(view)
  if (blockId !== undefined) return { response_action: 'errors', errors: { [blockId]: toPlainText(words) } }
  return { response_action: 'push', view: modal({ title: 'Lockkeeper', close: 'Back', blocks: wholeSection(words) }) }
}

/** Slack takes errors for input blocks only, and none of them where one is for another block. */
function firstInputOf(view: unknown): string | undefined {
  const form = Form.safeParse(view)
  const inputs = form.success ? form.data.blocks.map((block) => InputBlock.safeParse(block)) : []
  return inputs.find((input) => input.success)?.data?.block_id
}
