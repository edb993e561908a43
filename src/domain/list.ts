import type { ListLimit } from './errors.ts'

/** A list of the account, as it was read. Code that shows it says what it lacks. */
export interface List<Item> {
  items: Item[]
  /** Whether the account had no other items when it was read, apart from those that it was still provisioning. */
  isWhole: boolean
  /** When the read of a shared copy began, in ms since 1970 by Redis' clock. */
  readAt?: number | undefined
  /** Why it was not read to its end. */
  cut?: ListLimit | undefined
  unreadable?: number
  /** How many items have no id yet, because they are being provisioned. */
  unready?: number
  /** Set if the list is an earlier copy: how old it is, and the error that kept it from being read again. Without one, the read takes long. */
  old?: { agoMs: number; because?: unknown } | undefined
}
