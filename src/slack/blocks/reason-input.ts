import { longestReason } from '../../domain/policy/reason.ts'
import type { Values } from '../commands/handlers.ts'
import { input, plainTextInput } from './inputs.ts'

interface ReasonParts {
  entered: string | undefined
  hint: string
  optional?: boolean
  multiline?: boolean
}

export const reasonBlockId = 'reason'

/** Makes the field for a reason. */
export function reasonInput({ entered, hint, optional = true, multiline = false }: ReasonParts) {
  const element = plainTextInput({ actionId: reasonBlockId, multiline, maxLength: longestReason, initialValue: entered })
  return input({ blockId: reasonBlockId, label: 'Reason', hint, optional, element })
}

/** Returns the reason that was entered, or undefined if there is none. */
export function reasonIn(values: Values): string | undefined {
  return values[reasonBlockId]?.trim() || undefined
}
