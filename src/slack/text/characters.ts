/**
 * How many characters the blocks of one message may hold together. Slack refuses more with `msg_blocks_too_long`. The limit is not
 * documented: messages were refused from about 11,000 characters on (bolt-js, issues 2509 and 2867).
 */
export const mostCharacters = 10_000

/** Members of blocks that nobody reads: what a block is, and what Slack sends back when it is used. */
const unread = new Set(['type', 'style', 'block_id', 'action_id', 'value'])

/** Counts the characters that people read in blocks, or in parts of them. It counts UTF-16 units, which is the strictest way to count. */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [name, part]) => sum + (unread.has(name) ? 0 : charactersIn(part)), 0)
}
