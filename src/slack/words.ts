const quotes = /"([^"]*)"|“([^”]*)”|'([^']*)'|‘([^’]*)’|(\S+)/g

/**
 * Splits what was typed after a command into words. Quotes (straight or typographic) keep a name with spaces together; links that
 * Slack made of host names (`<http://web-2.example.com|web-2.example.com>`) become what was typed again, as do `&amp;`, `&lt;` and `&gt;`.
 */
export function parseWords(text: string): string[] {
  const typed = text.replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|]*\|([^<>]*)>/g, '$1').replace(/<(?:https?:\/\/)([^<>|]*)>/g, '$1')
  return [...typed.matchAll(quotes)].map((match) => unescapeEntities(match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5] ?? ''))
}

function unescapeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
