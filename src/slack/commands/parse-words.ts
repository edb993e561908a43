/**
 * The characters that can enclose one argument: backticks, straight, typographic, German or French quotes. Phones mix straight and
 * typographic quotes, so a pair is one of each kind. Single quotes must end before white space or a comma, because `'` is also an
 * apostrophe.
 */
const wrappings = [/```([^`]*)```/, /`([^`]*)`/, /["“”„]([^"“”]*)["“”]/, /«([^«»]*)»/, /['‘’‚]([^'‘’]*)['‘’](?=[\s,]|$)/]

const oneWord = new RegExp(`(?:${wrappings.map(({ source }) => source).join('|')}),*|(\\S+)`, 'g')

/** Most commands have none of these, and are only split at white space, which takes a fifth of the time. */
const special = /[`"“”„«»'‘’‚,<>&]/

/**
 * Splits the text after a command into words. Quotes and backticks keep a name with spaces together, and are taken off like commas around a
 * word. Slack turns host names into links (`<http://web-2.example.com|web-2.example.com>`) and escapes `&`, `<` and `>`: both become what
 * was typed. Mentions stay as Slack sends them.
 */
export function parseWords(text: string): string[] {
  if (!special.test(text)) return text.split(/\s+/).filter((word) => word !== '')
  const typed = text.replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|]*\|([^<>]*)>/g, '$1').replace(/<(?:https?:\/\/)([^<>|]*)>/g, '$1')
  return [...typed.matchAll(oneWord)].flatMap((match) => {
    const bare = match.at(-1)
    if (bare === undefined) return [unescapeEntities(match.slice(1, -1).find((part) => part !== undefined) ?? '')]
    const word = withoutCommas(bare)
    return word === '' ? [] : [unescapeEntities(word)]
  })
}

/** Matches what Slack sends for a mention of a person, a channel or a user group: `<@U0ADA00001|ada>`, `<!subteam^S0ONCALL01|@oncall>`. */
const mention = /^<(?:@|#|!subteam\^)([A-Z0-9]+)(?:\|([^>]*))?>$/

/** Returns a mention as the name that was typed, for commands that look for names. Without a name it is the id. */
export function withoutMention(word: string): string {
  const [, id, name] = mention.exec(word) ?? []
  return name?.replace(/^@/, '') || id || word
}

function withoutCommas(word: string): string {
  let [start, end] = [0, word.length]
  while (word[start] === ',') start += 1
  while (end > start && word[end - 1] === ',') end -= 1
  return word.slice(start, end)
}

export function unescapeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
