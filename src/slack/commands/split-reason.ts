import { unescapeEntities } from './parse-words.ts'

/** One word, or a text in quotes or backticks, in which *because* is a part of a name. */
const token = /["“”„][^"“”]*["“”]|`[^`]*`|«[^«»]*»|['‘’‚][^'‘’]*['‘’](?=[\s,]|$)|\S+/g

/** Matches mentions as Slack sends them: `<@U0ADA00001|ada>`, `<#C0OPS00001|ops>`, `<!subteam^S0ONCALL01|@oncall>`, `<!here>`. */
const mention = /<([@#]|!subteam\^|!)([\w]+)(?:\|@?([^<>]*))?>/g

/** Matches links as Slack sends them: `<https://example.com/1>`, `<http://web-2.example.com|web-2.example.com>`. */
const link = /<((?:https?:\/\/|mailto:|tel:)[^<>|]*)(?:\|([^<>]*))?>/g

/**
 * Splits `ip move 203.0.113.10 web-2 because OPS-123` before the first *because*. The reason is what the person typed after it, with mentions
 * as names, so that it notifies nobody. Returns undefined if the text has no *because*.
 */
export function splitReason(text: string): { command: string; reason: string } | undefined {
  if (!/because/i.test(text)) return undefined
  const because = [...text.matchAll(token)].find(([word]) => /^because[,:]?$/i.test(word))
  if (!because) return undefined
  const sent = text.slice(because.index + because[0].length)
  const typed = unescapeEntities(sent.replaceAll(mention, nameOfMention).replaceAll(link, (_, address, shown) => shown || address))
  return { command: text.slice(0, because.index).replace(/[\s,]+$/, ''), reason: withoutQuotes(typed.trim()) }
}

function nameOfMention(_: string, kind: string, id: string, name: string | undefined): string {
  return `${kind === '#' ? '#' : '@'}${name || id}`
}

/** Takes off quotes around the whole reason. */
function withoutQuotes(reason: string): string {
  return /^["“”„]([^"“”]*)["“”]$/.exec(reason)?.[1]?.trim() ?? reason
}
