import type { KnownBlock } from '@slack/web-api'
import { charactersIn, mostCharacters } from '../text/characters.ts'
import { truncate } from '../text/cut-text.ts'
import { type Mrkdwn, mrkdwn } from '../text/text.ts'
import { emptyText } from '../text/text-objects.ts'
import type { Message } from '../web-api/messenger.ts'
import { context } from './blocks.ts'

/** docs.slack.dev, "Blocks" (50 in a message) and "chat.postMessage method" (4,000 characters of text). */
const limits = { blocks: 50, text: 4_000 } as const

/** Makes a message of these blocks. `text` says the same in words: notifications and screen readers use it instead of the blocks. */
export function message({ text, blocks }: { text: Mrkdwn; blocks: KnownBlock[] }): Message {
  return {
    text: truncate(text.text.trim() || emptyText, limits.text, 'mrkdwn'),
    blocks: limitBlocks(blocks, { most: limits.blocks, characters: mostCharacters }),
  }
}

interface BlockLimits {
  most: number
  /** In all blocks together. */
  characters: number
}

/** The longest note about what was left out is shorter than this. */
const noteCharacters = 100

/** Keeps as many blocks from the beginning as the limits allow. If it leaves some out, the last block says how many. */
export function limitBlocks(blocks: KnownBlock[], { most, characters }: BlockLimits): KnownBlock[] {
  if (blocks.length <= most && charactersIn(blocks) <= characters) return blocks
  const kept = firstWithin(blocks.slice(0, most - 1), characters - noteCharacters)
  const left = blocks.length - kept.length
  const words = left === 1 ? "1 more part doesn't fit here and isn't shown." : `${left} more parts don't fit here and aren't shown.`
  return [...kept, ...context([mrkdwn`:warning: ${words}`])]
}

function firstWithin(blocks: KnownBlock[], characters: number): KnownBlock[] {
  let left = characters
  const end = blocks.findIndex((block) => {
    left -= charactersIn(block)
    return left < 0
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}
