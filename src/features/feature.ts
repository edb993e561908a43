import type { FormAgain } from '../changes/conversation.ts'
import type { Change } from '../domain/change.ts'
import type { Command } from '../slack/commands.ts'
import type { Interactions } from '../slack/interaction.ts'

/** One capability of the bot: everything that is its own, and nothing that others have too. */
export interface Feature {
  commands: Command[]
  changes?: Change[]
  /** The form of a change of this feature, for asking again. */
  forms?: Partial<Record<Change['kind'], FormAgain>>
  clicks?: Interactions['clicks']
  submissions?: Interactions['submissions']
  options?: Interactions['options']
}
