import type { KnownBlock, RichTextBlock, TableBlock } from '@slack/web-api'
import { context } from './blocks.ts'
import { charactersIn } from './characters.ts'
import { type Mrkdwn, mrkdwn } from './text.ts'
import { nothing, plain } from './text-objects.ts'

// A row of the widest table with the longest cells is within the limit of characters, so that one always fits.
const limits = { rows: 100, columns: 20, characters: 10_000, cell: 250 } as const

/** Plain text, shown as it is, or rich text. */
export type Cell = string | RichTextBlock

/**
 * A table, for messages alone and once in each (docs.slack.dev, "Table block"). Cells are cut visibly; small print below tells of
 * rows and columns that did not fit.
 */
export function table({ header, rows }: { header: Cell[]; rows: Cell[][] }): KnownBlock[] {
  const width = Math.max(1, ...[header, ...rows].map((row) => row.length))
  const columns = Math.min(width, limits.columns)
  const fitted = [header, ...rows].map((row) => Array.from({ length: columns }, (_, index) => cell(row[index] ?? '')))
  const kept = fitted.slice(0, rowsWithin(fitted))
  const notes: Mrkdwn[] = [
    ...(fitted.length > kept.length ? [mrkdwn`${fitted.length - kept.length} more rows do not fit into this table.`] : []),
    ...(width > columns ? [mrkdwn`${width - columns} more columns do not fit into this table.`] : []),
  ]
  return [{ type: 'table', rows: kept }, ...context(notes)]
}

type TableCell = TableBlock['rows'][number][number]

function cell(content: Cell): TableCell {
  if (typeof content !== 'string') {
    const letters = charactersIn(content)
    return letters > 0 && letters <= limits.cell ? content : { type: 'raw_text', text: letters > 0 ? '(too long)' : nothing }
  }
  return { type: 'raw_text', text: plain(content, limits.cell).text }
}

function rowsWithin(rows: TableCell[][]): number {
  let letters = 0
  let count = 0
  for (const row of rows.slice(0, limits.rows)) {
    letters += charactersIn(row)
    if (letters > limits.characters) break
    count += 1
  }
  return count
}
