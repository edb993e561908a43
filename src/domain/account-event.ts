/** Something that happened on the account, by its own audit (`GET /events`). `action` is an open set (`update.elastic_ip` …). */
export interface AccountEvent {
  id: string
  action: string | undefined
  target: { id: string | undefined; name: string | undefined } | undefined
  author: { id: string | undefined; name: string | undefined; email: string | undefined } | undefined
  createdAt: string | undefined
}

/** What is known to change nothing, and what is known to change something whatever else the action is called. */
const looking = new Set(['read', 'get', 'list', 'show', 'view', 'login', 'logout', 'download', 'export'])
const changing = new Set(['create', 'update', 'delete', 'destroy'])

/** What the account may call a deletion. */
export const deletingActions = ['delete', 'destroy', 'revoke', 'remove']

/** The words of an action: `update`, `elastic`, `ip`. */
export function wordsOfAction(action: string | undefined): string[] {
  return (action ?? '').toLowerCase().split(/[^a-z]+/)
}

/** Whether an event may have changed its target. An action that nobody knows counts as one that does. Pure. */
export function mayChange({ action }: AccountEvent): boolean {
  const words = wordsOfAction(action)
  return words.some((word) => changing.has(word)) || !words.some((word) => looking.has(word))
}
