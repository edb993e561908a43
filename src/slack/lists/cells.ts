import type { DataTableBlock } from '@slack/web-api'
import { cleanText, type Mrkdwn, mrkdwn } from '../text/text.ts'
import { emptyText } from '../text/text-objects.ts'
import { richTextElements } from './rich-text.ts'

/** The content of a cell. Slack sorts a column of numbers by their values. Undefined and empty text show as a dash. */
export type Cell = Mrkdwn | string | { value: number; words: string } | undefined

type TableCell = DataTableBlock['rows'][number][number]

/** Text that Slack might read as markup, an entity or an emoji in a plain cell, of which nothing is documented. */
const ambiguous = /[<>&]|:[^\s:]+:/

/** Returns the words of a cell for a line of text. Undefined if it is empty. */
export function cellWords(cell: Cell): Mrkdwn | undefined {
  if (cell === undefined) return undefined
  const words = typeof cell === 'string' ? mrkdwn`${cleanText(cell, { oneLine: true })}` : 'words' in cell ? mrkdwn`${cell.words}` : cell
  return words.text.trim() === '' ? undefined : words
}

/**
 * Makes a cell of a table. Slack refuses empty ones, so they hold a dash. Inline code is plain text in every cell: the cell is a frame
 * already, and a column in which only some cells have code is hard to scan. The same words outside a table keep their code.
 */
export function tableCell(cell: Cell): TableCell {
  const words = cellWords(cell)
  if (words === undefined) return { type: 'raw_text', text: emptyText }
  if (typeof cell === 'object' && 'value' in cell) return { type: 'raw_number', value: cell.value, text: cell.words }
  const elements = richTextElements(words).map((element) => (element.type === 'text' ? plainText(element.text) : element))
  const texts = elements.filter((element) => element.type === 'text')
  if (texts.length === elements.length) return textCell(texts.map(({ text }) => text).join(''))
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }
}

function plainText(text: string) {
  return { type: 'text' as const, text }
}

/** Makes a cell of plain text, or a rich text of one text element where Slack might read more into it. */
function textCell(text: string): TableCell {
  if (!ambiguous.test(text)) return { type: 'raw_text', text }
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [plainText(text)] }] }
}
