import { channelMention, code, type Mrkdwn, ownWords } from './text.ts'

/**
 * Matches what Lockkeeper's sentences only describe: the operators, and the doctor command. Code is matched first and left unchanged, because
 * it contains text that people wrote.
 */
const described = /`[^`]*`|\bthe people who run Lockkeeper\b|\bthe doctor command\b/gi

/** Texts that would be longer than Slack's strictest limit stay as they are. */
const longestText = 2_000

interface Names {
  /** The operators' channel. Without one, the sentences only describe the operators. */
  opsChannel: string | undefined
  /** The slash command. */
  command: string
}

/**
 * Creates the function that adds the operators' channel wherever words name the operators, and writes out the doctor command. It is used
 * where messages are sent to Slack, because the many pure functions that make sentences do not know the configuration.
 */
export function createNaming({ opsChannel, command }: Names) {
  function nameOf(found: string): string {
    if (found.startsWith('`')) return found
    if (found.toLowerCase().endsWith('command')) return code(`${command} doctor`).text
    return opsChannel === undefined ? found : `${found} (${channelMention(opsChannel)})`
  }

  function inText(text: string): string {
    const named = text.replace(described, nameOf)
    return named.length <= longestText ? named : text
  }

  function inWords(words: Mrkdwn): Mrkdwn {
    return ownWords(inText(words.text))
  }

  /** Adds the names to every mrkdwn text in blocks, a view or a message. Plain text cannot mention a channel, and stays as it is. */
  function inBlocks<T>(value: T): T {
    return withTexts(value, inText) as T
  }

  return {
    inWords,
    inBlocks,
    inMessage: <T extends { text: string }>(message: T): T => ({ ...inBlocks(message), text: inText(message.text) }),
  }
}
export type Naming = ReturnType<typeof createNaming>

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
