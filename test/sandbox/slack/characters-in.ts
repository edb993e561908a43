/** Counts the characters that people read in blocks: every `text`, at any depth. Independent of the bot's own count. */
export function charactersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + charactersIn(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [name, part]) => sum + (name === 'text' && typeof part === 'string' ? part.length : charactersIn(part)),
    0,
  )
}
