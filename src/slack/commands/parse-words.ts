const quotes = /"([^"]*)"|“([^”]*)”|'([^']*)'|‘([^’]*)’|(\S+)/g

/**
 * Splits the text after a command into words. Straight or typographic quotes keep a name with spaces together. Slack turns host names into
 * links (`<http://web-2.example.com|web-2.example.com>`) and escapes `&`, `<` and `>`: both become what was typed.
 */
export function parseWords(text: string): string[] {
  const typed = text.replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|]*\|([^<>]*)>/g, '$1').replace(/<(?:https?:\/\/)([^<>|]*)>/g, '$1')
  return [...typed.matchAll(quotes)].map((match) => unescapeEntities(match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5] ?? ''))
}

export function unescapeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
