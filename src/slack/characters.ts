/**
 * Slack refuses a message whose blocks hold too much text together (`msg_blocks_too_long`). The limit is not documented: it was met from
 * 11,000 characters on (bolt-js, issues 2509 and 2867).
 */
export const mostCharacters = 10_000

/** Members of blocks that nobody reads: what they are, and what comes back to the bot when they are used. */
const unread = new Set(['type', 'style', 'block_id', 'action_id', 'value'])

/** How many characters of blocks, or of parts of them, people read: in UTF-16 units, which is the strictest way to count. */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [name, part]) => sum + (unread.has(name) ? 0 : charactersIn(part)), 0)
}
