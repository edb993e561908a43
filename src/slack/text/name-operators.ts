import { channelMention, type Mrkdwn, ownWords } from './text.ts'

/**
 * Matches the words for the operators in Lockkeeper's sentences. Code is matched first and left unchanged, because it contains text that
 * people wrote.
 */
const operators = /(`[^`]*`)|\bthe people who run Lockkeeper\b/gi

/** Texts that would be longer than Slack's strictest limit stay as they are. */
const longestText = 2_000

/**
 * Creates the function that adds the operators' channel wherever words name the operators. It is used where messages are sent to Slack,
 * because the many pure functions that make sentences do not know the configuration.
 */
export function createNameOperators(channelId: string | undefined) {
  function inText(text: string): string {
    if (channelId === undefined) return text
    const named = text.replace(operators, (found, code) => (code === undefined ? `${found} (${channelMention(channelId)})` : found))
    return named.length <= longestText ? named : text
  }

  function inWords(words: Mrkdwn): Mrkdwn {
    return ownWords(inText(words.text))
  }

  /** Adds the channel to every mrkdwn text in blocks, a view or a message. Plain text cannot mention a channel, and stays as it is. */
  function inBlocks<T>(value: T): T {
    return channelId === undefined ? value : (withTexts(value, inText) as T)
  }

  return {
    inWords,
    inBlocks,
    inMessage: <T extends { text: string }>(message: T): T => ({ ...inBlocks(message), text: inText(message.text) }),
  }
}
export type NameOperators = ReturnType<typeof createNameOperators>

function withTexts(value: unknown, edit: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => withTexts(each, edit))
  if (typeof value !== 'object' || value === null) return value
  const isMrkdwn = 'type' in value && value.type === 'mrkdwn'
  const members = Object.entries(value).map(([name, member]) => [
    name,
    isMrkdwn && name === 'text' && typeof member === 'string' ? edit(member) : withTexts(member, edit),
  ])
  return Object.fromEntries(members)
}
