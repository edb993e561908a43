import type { Checkboxes, ConversationsSelect, ExternalSelect, KnownBlock, PlainTextInput, RadioButtons } from '@slack/web-api'
import { truncate } from '../text/cut-text.ts'
import { exact, plain } from '../text/text-objects.ts'
import { actionIdOf, placeholderOf } from './element-parts.ts'

/** Slack's limits (docs.slack.dev, "Input block" and "Plain-text input element"), in characters. */
const limits = { blockId: 255, label: 2_000, inputLength: 3_000 } as const

interface InputParts {
  blockId: string
  label: string
  hint?: string
  optional?: boolean
  /** Makes Slack send every change as a click while the form stays open. */
  dispatchAction?: boolean
  element: PlainTextInput | ExternalSelect | ConversationsSelect | RadioButtons | Checkboxes
}

export function input({ blockId, label, hint, optional = false, dispatchAction = false, element }: InputParts): KnownBlock {
  return {
    type: 'input',
    block_id: exact('a block id', blockId, limits.blockId),
    label: plain(label, limits.label),
    element,
    optional,
    ...(dispatchAction ? { dispatch_action: true } : {}),
    ...(hint ? { hint: plain(hint, limits.label) } : {}),
  }
}

interface PlainTextInputParts {
  actionId: string
  multiline?: boolean
  maxLength?: number
  initialValue?: string | undefined
  placeholder?: string
}

export function plainTextInput({ actionId, multiline = false, maxLength, initialValue, placeholder }: PlainTextInputParts): PlainTextInput {
  const length = Math.min(Math.max(1, maxLength ?? limits.inputLength), limits.inputLength)
  return {
    type: 'plain_text_input',
    ...actionIdOf(actionId),
    multiline,
    max_length: length,
    ...(initialValue ? { initial_value: truncate(initialValue.toWellFormed(), length, 'plain') } : {}),
    ...placeholderOf(placeholder),
  }
}
