/** An event in the account's own log (`GET /events`). `action` is one of an open set, such as `update.elastic_ip`. */
export interface AccountEvent {
  id: string
  action: string | undefined
  target: { id: string | undefined; name: string | undefined } | undefined
  author: { id: string | undefined; name: string | undefined; email: string | undefined } | undefined
  createdAt: string | undefined
}

/** An action that contains one of these words, and none of `changingWords`, changes nothing. */
const readingWords = new Set(['read', 'get', 'list', 'show', 'view', 'login', 'logout', 'download', 'export'])
const changingWords = new Set(['create', 'update', 'delete', 'destroy'])

/** The words by which events of the account may name a deletion. */
export const deletingActions = ['delete', 'destroy', 'revoke', 'remove']

/** Splits an action into its words: `update`, `elastic`, `ip`. */
export function wordsOfAction(action: string | undefined): string[] {
  return (action ?? '').toLowerCase().split(/[^a-z]+/)
}

/** Whether an event may have changed its target. An unknown action counts as a change. */
export function mayChange({ action }: AccountEvent): boolean {
  const words = wordsOfAction(action)
  return words.some((word) => changingWords.has(word)) || !words.some((word) => readingWords.has(word))
}
