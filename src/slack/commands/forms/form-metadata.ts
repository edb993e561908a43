import { type Metadata, writeMetadata } from '../../receive/metadata.ts'
import type { SlashCommand } from '../handlers.ts'

/**
 * Writes the metadata of a form that opens: where its answers go, the reason that was typed, and the rule that requires one. `more`: what else
 * the form needs to know.
 */
export function formMetadata(
  { origin, responseUrl, reason }: Pick<SlashCommand, 'origin' | 'responseUrl' | 'reason'>,
  ruleWithReason: string | undefined,
  more: Pick<Metadata, 'undoes' | 'repeats' | 'message'> = {},
): string {
  return writeMetadata({
    origin,
    ...(responseUrl ? { responseUrl } : {}),
    ...(reason ? { reason } : {}),
    ...(ruleWithReason === undefined ? {} : { ruleWithReason }),
    ...more,
  })
}
