import { isIP } from 'node:net'
import { withoutInvisible } from '../../domain/text/invisible.ts'
import type { ShortcutMessage } from '../../slack/commands/handlers.ts'

/** The most that is searched in a message. Slack's longest message has 40,000 characters, and its text and its blocks say the same. */
const most = { characters: 100_000, nodes: 20_000, words: 5_000 } as const

/** The members of blocks, elements and attachments that people read. Ids and kinds are left out. */
const shownMembers = new Set(['text', 'title', 'value', 'fallback', 'pretext', 'footer', 'author_name', 'url', 'title_link', 'alt_text'])

/** Lists the words of a message in their order, each once: of its text, its blocks and its attachments. */
export function wordsIn({ text, blocks, attachments }: Pick<ShortcutMessage, 'text' | 'blocks' | 'attachments'>): string[] {
  const texts = [text, ...textsIn(blocks), ...textsIn(attachments)].join('\n').slice(0, most.characters)
  const pieces = withoutInvisible(withoutMarkup(texts)).split(/[^\p{L}\p{N}_.:-]+/u)
  return [...new Set(pieces.flatMap(wordsOf))].slice(0, most.words)
}

/** Collects the texts of nested blocks without recursion, because the nesting is from outside. */
function textsIn(nested: unknown[]): string[] {
  const texts: string[] = []
  const left: unknown[] = nested.toReversed()
  for (let nodes = 0; left.length > 0 && nodes < most.nodes; nodes += 1) {
    const node = left.pop()
    if (typeof node !== 'object' || node === null) continue
    if (Array.isArray(node)) {
      left.push(...node.slice(0, most.nodes).reverse())
      continue
    }
    const members = Object.entries(node)
    texts.push(...members.flatMap(([name, value]) => (typeof value === 'string' && shownMembers.has(name) ? [value] : [])))
    left.push(...members.map(([, value]) => value).reverse())
  }
  return texts
}

/** Replaces links by their address and their words, and entities by what was typed. Mentions and dates name nothing on the account. */
function withoutMarkup(text: string): string {
  return text
    .replace(/<[@#!][^<>]*>/g, ' ')
    .replace(/<([^<>|]*)\|([^<>]*)>/g, ' $1 $2 ')
    .replaceAll('&lt;', ' ')
    .replaceAll('&gt;', ' ')
    .replaceAll('&amp;', ' ')
}

/** Returns a piece without the punctuation around it, and what is before its port: `web-1` for `web-1:9100`. */
function wordsOf(piece: string): string[] {
  if (isIP(piece) !== 0) return [piece]
  const word = piece.replace(/^[._:-]+|[._:-]+$/g, '')
  const [, host] = /^([^:]+):\d{1,5}$/.exec(word) ?? []
  return [word, host ?? ''].filter((each) => each !== '')
}
