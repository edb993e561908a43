import type { ViewResponseAction } from '@slack/bolt'
import { z } from 'zod'
import { wholeSection } from '../blocks/blocks.ts'
import { modal } from '../blocks/modal.ts'
import { type Mrkdwn, toPlainText } from '../text/text.ts'

const Form = z.object({ blocks: z.array(z.unknown()) })
const InputBlock = z.object({ type: z.literal('input'), block_id: z.string().min(1) })

/**
 * Answers a submission with an error and keeps the form open with everything that was entered. The error is shown at the first input. If
 * the form's blocks cannot be read, the error is pushed as a view on top: closing it brings the form back, because a view stack keeps the
 * state of its views (docs.slack.dev, "Modals"). Slack stacks at most 3 views (docs.slack.dev, "views.push method"), and Lockkeeper
 * pushes no others.
 */
export function keepForm(view: unknown, words: Mrkdwn): ViewResponseAction {
  const blockId = firstInputOf(view)
  if (blockId !== undefined) return { response_action: 'errors', errors: { [blockId]: toPlainText(words) } }
  return { response_action: 'push', view: modal({ title: 'Lockkeeper', close: 'Back', blocks: wholeSection(words) }) }
}

/** Finds the first input block. Slack accepts errors for input blocks only, and refuses all of them if one is for another block. */
function firstInputOf(view: unknown): string | undefined {
  const form = Form.safeParse(view)
  const inputs = form.success ? form.data.blocks.map((block) => InputBlock.safeParse(block)) : []
  return inputs.find((input) => input.success)?.data?.block_id
}
