/** Joins the first texts, and counts the others: `web-1, web-2 and 3 more`. */
export function someOf(texts: readonly string[], { most = 10, separator = ', ' } = {}): string {
  const more = texts.length - most
  return more > 0 ? `${texts.slice(0, most).join(separator)} and ${more} more` : texts.join(separator)
}
