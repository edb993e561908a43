import type { ListLimit } from './list-errors.ts'

/** The parts that are missing in a list from the account API. */
export interface Missing {
  /** The limit that ended the read. */
  cut?: ListLimit | undefined
  /** How many items do not fit the schema. */
  unreadable?: number
  /** How many items have no id yet, because they are being provisioned. */
  unready?: number
}
