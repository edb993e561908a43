import type { ListLimit } from './list-errors.ts'

/** What a list from the account API lacks. */
export interface Missing {
  /** The limit that ended the read. */
  cut?: ListLimit | undefined
  /** How many items do not fit the schema. */
  unreadable?: number
  /** How many items have no id yet, because they are being provisioned. */
  unready?: number
  /** Set if the list is an earlier copy: how old it is, and the error that kept it from being read again. Without one, the read takes long. */
  old?: { agoMs: number; because?: unknown } | undefined
}
