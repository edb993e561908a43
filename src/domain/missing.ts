import type { ListLimit } from './list-errors.ts'

/** What a list lacks that was read from the account API. */
export interface Missing {
  /** What kept it from being read to its end. */
  cut?: ListLimit | undefined
  /** How many items do not fit the schema. */
  unreadable?: number
  /** How many items have no id yet, because they are being provisioned. */
  unready?: number
}
