import type { DataTableBlock } from '@slack/web-api'
import { charactersIn } from '../text/characters.ts'
import { truncate } from '../text/cut-text.ts'
import { cleanText } from '../text/text.ts'
import { emptyText } from '../text/text-objects.ts'
import { type Cell, tableCell } from './cells.ts'

/**
 * Slack's limits for a data table (docs.slack.dev, "Data table block"). Slack has begun to take 200 rows and 20,000 characters, but not yet
 * everywhere.
 */
const limits = { rows: 100, columns: 20, characters: 10_000 } as const

/** Whether one table can have this many rows. Otherwise making the cells would be wasted work. */
export function fitsTable(rows: number): boolean {
  return rows > 0 && rows <= limits.rows
}

const rowsPerPage = 10

/** The rows of a table, and the names of its columns. The first column names the row. */
export interface Table {
  headers: string[]
  rows: Cell[][]
}

/** Makes a table that Slack sorts, filters and pages. Undefined if it would exceed a limit of Slack, or has no rows. */
export function dataTable(caption: string, { headers, rows }: Table): DataTableBlock | undefined {
  if (!fitsTable(rows.length) || headers.length > limits.columns) return undefined
  const cells = rows.map((row) => row.map(tableCell))
  const names = headers.map((text) => ({ type: 'raw_text' as const, text }))
  if (charactersIn(names) + charactersIn(cells) > limits.characters) return undefined
  return {
    type: 'data_table',
    caption: truncate(plainCaption(caption) || emptyText, 1_000, 'plain'),
    rows: [names, ...cells],
    page_size: rowsPerPage,
    row_header_column_index: 0,
  }
}

/** Slack documents only that a caption is a string. Without angle brackets, it holds no mention and no link, however Slack reads it. */
function plainCaption(caption: string): string {
  return cleanText(caption, { oneLine: true }).replaceAll(/[<>]/g, '')
}
