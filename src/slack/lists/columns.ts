import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../text/text.ts'
import { type Cell, cellWords } from './cells.ts'
import { fitsTable, type Table } from './data-table.ts'
import { choicesOf, type ItemChoices, type ItemDetails } from './item-choices.ts'

/**
 * One column of a list, described once for all its layouts: a column of the table, a part of the item's text, and a line of its details.
 * Addresses, hostnames, ids and what a person typed are code. The table shows them as plain text (`tableCell`).
 */
export interface Column<T> {
  header: string
  cell: (item: T) => Cell
  /** Words around the cell in a text, where the header is missing: `2` is read as `2 vCPU` with `after: ' vCPU'`. */
  before?: string
  after?: string
  /** Words in place of an empty cell in a text. Without them the text leaves it out. */
  absent?: string | ((item: T) => string | undefined)
  /** The line of the item's text. Default: 1. */
  line?: 1 | 2 | 3
  /** The table has this column only if one of its items has the cell. */
  ifAny?: true
}

/** The first column names the item, so it must differ from item to item. */
export type Columns<T> = [Column<T>, ...Column<T>[]]

export interface ItemRows<T> {
  columns: Columns<T>
  /** A status emoji in front of the item's text. The table says the status in words. */
  mark?: (item: T) => Mrkdwn
  details?: ItemDetails<T>
}

/** The layouts of some items, as the members of a `Listing`. */
export interface Rows {
  rows: Mrkdwn[]
  table?: Table
  choices?: ItemChoices
}

/** Makes the layouts of a list from its columns. */
export function itemRows<T>(items: T[], { columns, mark, details }: ItemRows<T>): Rows {
  return {
    rows: items.map((item) => itemText(item, columns, mark?.(item))),
    ...(fitsTable(items.length) ? { table: tableOf(items, columns) } : {}),
    ...(details ? { choices: choicesOf(items, details) } : {}),
  }
}

function tableOf<T>(items: T[], columns: Columns<T>): Table {
  const shown = columns.filter(({ cell, ifAny }) => !ifAny || items.some((item) => cellWords(cell(item)) !== undefined))
  return { headers: shown.map(({ header }) => header), rows: items.map((item) => shown.map(({ cell }) => cell(item))) }
}

/** Shows an item as up to three lines of text: `*vm.small*  ·  2 vCPU  ·  4 GiB memory`. */
function itemText<T>(item: T, [name, ...others]: Columns<T>, mark: Mrkdwn | undefined): Mrkdwn {
  const title = mrkdwn`${mark ? mrkdwn`${mark} ` : mrkdwn``}*${cellWords(name.cell(item)) ?? 'no name'}*`
  const lines = [1, 2, 3].map((line) => others.filter((column) => (column.line ?? 1) === line).flatMap((column) => wordsOf(item, column)))
  return joinMrkdwn(
    lines
      .map((words, index) => (index === 0 ? [title, ...words] : words))
      .filter((words) => words.length > 0)
      .map((words) => joinMrkdwn(words, '  ·  ')),
    '\n',
  )
}

function wordsOf<T>(item: T, { cell, before = '', after = '', absent }: Column<T>): Mrkdwn[] {
  const words = cellWords(cell(item))
  if (words) return [mrkdwn`${before}${words}${after}`]
  const instead = typeof absent === 'function' ? absent(item) : absent
  return instead === undefined ? [] : [mrkdwn`${instead}`]
}
