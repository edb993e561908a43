import type { AuditEntry } from '../../audit/entry.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn, userGroupMention } from '../../slack/text/text.ts'
import { typedActs, typedWordOf, wordsOfAct } from './words/act-words.ts'
import { causesInWords, subjectOf, type WordsOfChanges } from './words/entry-words.ts'
import { attemptWords, whyRefused } from './words/refused.ts'
import { foundWith } from './words/tried.ts'

export interface Filter {
  /** Whether all words fit the entry. */
  fits: (entry: AuditEntry) => boolean
  /** The words that are searched as text. They may name a resource. */
  names: string[]
  /** The words as the title shows them. */
  shown: Mrkdwn
}

interface Word {
  /** `text` makes the text of the entry. It is made once for all words, because that takes most of the time of a search. */
  fits: (entry: AuditEntry, text: () => string) => boolean
  shown: Mrkdwn
  /** The resource that the word may name. */
  name?: string
}

/**
 * Reads the words after the command: people (a mention, or `me`), channels, kinds, acts, ids of requests, and any text of an entry. An
 * entry must fit all words. A kind or an act also finds the refused attempts at it.
 */
export function readFilter(words: string[], me: string, catalog: WordsOfChanges): Filter {
  const read = words.map((word) => readWord(word, me, catalog))
  return {
    fits: (entry) => {
      const text = once(() => textOf(entry, catalog))
      return read.every((word) => word.fits(entry, text))
    },
    names: read.flatMap(({ name }) => name ?? []),
    shown: joinMrkdwn(
      read.map(({ shown }) => shown),
      ' ',
    ),
  }
}

function readWord(word: string, me: string, catalog: WordsOfChanges): Word {
  const [, mark, id = '', name] = /^<(@|#|!subteam\^)([A-Z0-9]+)(?:\|[@#]?([^>]*))?>$/.exec(word) ?? []
  // The caption of a table is plain text, where a mention would be an id.
  const named = (sign: string, mentioned: Mrkdwn) => (name ? mrkdwn`${sign}${name}` : mentioned)
  if (mark === '#') return { fits: ({ channelId }) => channelId === id, shown: named('#', channelMention(id)) }
  if (mark === '@') return { fits: ({ by }) => by === id, shown: named('@', mention(id)) }
  if (mark !== undefined) return { fits: (entry) => namesGroup(entry, id), shown: named('@', userGroupMention(id)) }
  const lower = word.toLowerCase()
  if (lower === 'me') return { fits: ({ by }) => by === me, shown: code(lower) }
  const wasTried = (entry: AuditEntry, what: 'kind' | 'action') => foundWith(entry).includes(`${what} ${lower}`)
  if (catalog.kinds().includes(lower)) return { fits: (entry) => entry.kind === lower || wasTried(entry, 'kind'), shown: code(lower) }
  if (typedActs.has(lower))
    return { fits: (entry) => entry.act === lower || typedWordOf(entry.act) === lower || wasTried(entry, 'action'), shown: code(lower) }
  const isIn = matcherOf(lower)
  return { fits: (entry, text) => hasId(entry, word) || isIn(text()), shown: code(word), name: word }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Whether the word is the person's id, or the first 8 or more characters of the request's id or of its hash. */
function hasId({ by, requestId, payload }: AuditEntry, word: string): boolean {
  const startsIt = /^[0-9a-f]{8,}$/i.test(word) && [requestId, payload].some((id) => id?.startsWith(word.toLowerCase()))
  return by === word || startsIt
}

/** Whether an act was allowed to a member of a user group, or denied to somebody who is not a member. */
function namesGroup({ via, causes = [] }: AuditEntry, id: string): boolean {
  return via === id || JSON.stringify(causes).includes(JSON.stringify(id))
}

/** Returns the text that a word is searched in: the entry's members, and the words that show it. */
function textOf(entry: AuditEntry, catalog: WordsOfChanges): string {
  const { kind, resource, facts, rule, via, reason, answer, resourceId, text, to, act, attempted } = entry
  const why =
    entry.act === 'refused'
      ? [mrkdwn`tried ${attemptWords(entry, catalog)}`, ...whyRefused(entry, catalog.labelOf)].map(({ text }) => text)
      : causesInWords(entry, catalog)
  const members = [kind, resource, JSON.stringify(facts), rule, via, reason, JSON.stringify(answer), resourceId, text, to, act, attempted]
  return [...members, subjectOf(entry, catalog), wordsOfAct(entry), ...why].join('\n').toLowerCase()
}

/** Creates a search for a word in a text. A number does not match a part of a longer one: `web-2` does not match `web-21`. */
function matcherOf(word: string): (text: string) => boolean {
  const pattern = new RegExp(`${/^\d/.test(word) ? '(?<!\\d)' : ''}${escapePattern(word)}${/\d$/.test(word) ? '(?!\\d)' : ''}`)
  return (text) => pattern.test(text)
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
