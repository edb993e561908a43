import { type Json, objectsOf, stringOf } from './json.ts'
import { richTextSection } from './rich-text-schema.ts'
import { anything, array, byType, type Check, object, type Report, string, wholeNumber } from './schema.ts'

/**
 * A data table, by the rules of docs.slack.dev/reference/block-kit/blocks/data-table-block. Messages and Home tabs take one, modals do not.
 */
const limits = { rows: 101, columns: 20, characters: 10_000, pageSize: 100 }

const type = anything
const oneOrMore = string({ min: 1 })

const number: Check = (value, at, report) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) report('must be a number', at)
}

const rawText = object({ required: { type, text: oneOrMore } })

const cell = byType({
  raw_text: rawText,
  raw_number: object({ required: { type, value: number, text: oneOrMore } }),
  rich_text: object({ required: { type, elements: array(richTextSection, { min: 1, max: 1 }) } }),
})

const header: Check = (value, at, report) => {
  if (objectsOf([value])[0]?.type === 'rich_text') return report('rich_text is not allowed in the header', at)
  cell(value, at, report)
}

const rows: Check = (value, at, report) => {
  if (!Array.isArray(value)) return report('must be an array', at)
  if (value.length < 2) report('no fewer than 2 items allowed', at)
  if (value.length > limits.rows) report(`no more than ${limits.rows} items allowed`, at)
  for (const [index, row] of value.entries()) {
    array(index === 0 ? header : cell, { min: 1, max: limits.columns })(row, `${at}/${index}`, report)
    if (Array.isArray(row) && row.length !== value[0]?.length) report('all rows must have the same number of cells', `${at}/${index}`)
  }
}

/** Counts the characters that people read in a cell. Dates are counted as they are shown, mentions by their ids. */
export function cellCharacters(one: Json): number {
  if (one.type !== 'rich_text') return stringOf(one.text).length
  const elements = objectsOf(one.elements).flatMap((part) => objectsOf(part.elements))
  return elements.reduce((sum, element) => sum + elementCharacters(element), 0)
}

function elementCharacters({ type: kind, text, user_id, channel_id, usergroup_id }: Json): number {
  if (kind === 'date') return '2026-11-22 12:00 PM'.length
  return stringOf(text ?? user_id ?? channel_id ?? usergroup_id).length
}

function fits({ rows: all, row_header_column_index: named }: Json, at: string, report: Report): void {
  const cells = Array.isArray(all) ? all.flat().filter((one): one is Json => typeof one === 'object' && one !== null) : []
  const characters = cells.reduce((sum, one) => sum + cellCharacters(one), 0)
  if (characters > limits.characters) report(`must be less than ${limits.characters + 1} characters in all cells`, `${at}/rows`)
  const columns = Array.isArray(all) && Array.isArray(all[0]) ? all[0].length : 0
  if (typeof named === 'number' && named >= columns) report('must be the index of a column', `${at}/row_header_column_index`)
}

export const dataTable = object({
  required: { type, rows, caption: oneOrMore },
  optional: {
    block_id: string({ max: 255 }),
    page_size: wholeNumber({ min: 1, max: limits.pageSize }),
    row_header_column_index: wholeNumber({ min: 0 }),
  },
  also: fits,
})

/** Where the stand-in takes tables. Slack rolls new blocks out in phases, and documents nothing for response URLs. */
export type TablesAre = 'taken' | 'refused in response URLs' | 'refused'

export function isTable({ type: kind }: Json): boolean {
  return kind === 'data_table'
}
