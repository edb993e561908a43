import type { KnownBlock } from '@slack/web-api'
import { charactersIn, mostCharacters, splitMrkdwn, truncate } from './text.ts'

const longestPlaceholder = 150

export const longestHeader = 150
export const longestOption = 74
/** Values are never cut, because a cut value would mean something else. */
export const longestOptionValue = 74
export const longestButtonValue = 2_000
export const longestLabel = 75
export const longestInput = 3_000

/** In characters (docs.slack.dev, "Blocks", "Block elements", "Modal views", "Option object"). A longer text is cut, and the cut is marked. */
const longest: Record<string, Record<string, number>> = {
  modal: { title: 24, submit: 24, close: 24 },
  header: { text: longestHeader },
  section: { text: 3_000 },
  context: { elements: 3_000 },
  input: { label: 2_000, hint: 2_000 },
  button: { text: longestLabel },
  confirm: { title: 100, text: 300, confirm: 30, deny: 30 },
  // Slack takes 75, and asks to stay below it.
  option: { text: longestOption, description: longestOption },
  option_groups: { label: 75 },
}
/** What Slack sends back: cut, it would mean something else, so a longer one throws. */
const longestExact: Record<string, number> = { action_id: 255, block_id: 255, callback_id: 255, private_metadata: 3_000 }

export const mostCheckboxes = 10
const mostOptions: Record<string, number> = { static_select: 100, checkboxes: mostCheckboxes, radio_buttons: 10 }

/** The members that hold parts without a `type`. */
const untyped: Record<string, string> = { options: 'option', initial_option: 'option', initial_options: 'option' }

type Part = Record<string, unknown>

/** Cuts long texts. Throws a RangeError if an id or a value is too long or empty. Rich texts and tables keep their limits themselves. */
export function fit<T>(sent: T): T {
  return fitted(sent, '', longestPlaceholder) as T
}

function fitted(value: unknown, name: string, most: number): unknown {
  if (Array.isArray(value)) return value.map((each) => fitted(each, name, most))
  if (typeof value !== 'object' || value === null) return value
  const part = value as Part
  if (part.type === 'rich_text' || part.type === 'data_table') return part
  if (part.type === 'plain_text' || part.type === 'mrkdwn') {
    return { ...part, text: truncate(String(part.text), most, part.type === 'mrkdwn' ? 'mrkdwn' : 'plain') }
  }
  const kind = typeof part.type === 'string' ? part.type : (untyped[name] ?? name)
  const members = Object.entries(part).map(([member, content]): [string, unknown] => {
    const longestId = member === 'value' ? { button: longestButtonValue, option: longestOptionValue }[kind] : longestExact[member]
    if (typeof content === 'string' && longestId !== undefined) return [member, exact(`${kind}.${member}`, content, longestId)]
    const all = member === 'options' && Array.isArray(content) ? content.slice(0, mostOptions[kind]) : content
    return [member, fitted(all, member, longest[kind]?.[member] ?? longestPlaceholder)]
  })
  return Object.fromEntries(members)
}

function exact(name: string, text: string, most: number): string {
  if (text.length >= 1 && text.length <= most) return text
  throw new RangeError(`${name} has ${text.length} characters, and Slack takes 1 to ${most}`)
}

/** docs.slack.dev, "Blocks". Slack limits the characters of all blocks together only in messages. */
const mostInAll = {
  message: { blocks: 50, characters: mostCharacters },
  view: { blocks: 100, characters: Number.POSITIVE_INFINITY },
} as const

const noteCharacters = 100

/** Keeps the beginning and the buttons at the end if there is too much, and says how much is left out. */
export function fitBlocks(given: KnownBlock[], place: 'message' | 'view'): KnownBlock[] {
  const most = mostInAll[place]
  const blocks = fit(given)
  if (blocks.length <= most.blocks && charactersIn(blocks) <= most.characters) return blocks
  const end = blocks.findLastIndex(({ type }) => type !== 'actions') + 1
  const buttons = end > 0 ? blocks.slice(end) : []
  const room = { blocks: most.blocks - buttons.length - 1, characters: most.characters - charactersIn(buttons) - noteCharacters }
  const kept = firstWithin(blocks.slice(0, Math.min(end || blocks.length, room.blocks)), room.characters)
  const left = blocks.length - buttons.length - kept.length
  const words = left === 1 ? "1 more part doesn't fit here and isn't shown." : `${left} more parts don't fit here and aren't shown.`
  return [...kept, { type: 'context', elements: [{ type: 'mrkdwn', text: `:warning: ${words}`, verbatim: true }] }, ...buttons]
}

function firstWithin(blocks: KnownBlock[], characters: number): KnownBlock[] {
  let left = characters
  const end = blocks.findIndex((block) => {
    left -= charactersIn(block)
    return left < 0
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

/** Facts that people decide by must not be cut, so what is too long for one block becomes several. */
export function divided(block: KnownBlock): KnownBlock[] {
  switch (block.type) {
    case 'section': {
      const { text, accessory } = block
      if (!text || accessory || text.text.length <= 3_000) return [block]
      return splitMrkdwn(text.text, 3_000).map((part) => ({ ...block, text: { ...text, text: part } }))
    }
    case 'context': {
      const { elements } = block
      const count = Math.ceil(elements.length / 10)
      return Array.from({ length: count }, (_, index) => ({ ...block, elements: elements.slice(index * 10, (index + 1) * 10) }))
    }
    default:
      return [block]
  }
}
