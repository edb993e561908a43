/** Lists the changes under way on the account, with the words for them. */
export interface UnderwayNow {
  /** Lists each in words: `203.0.113.10 (eip_1), shown on web-1`. */
  list(options: { signal: AbortSignal }): Promise<string[]>
  /** The heading of the list: `Elastic IPs that are moving now`. */
  some: string
  /** The sentence for an empty list. */
  none: string
  /** The sentence if the account API did not answer. */
  unread: string
}
