import type { Change } from '../domain/change.ts'
import type { Talk } from '../requests/interactions/interactions.ts'

/** One capability of the bot: everything that is its own, and nothing that others have too. */
export interface Feature extends Talk {
  changes?: Change[]
}
