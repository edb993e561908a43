import type { TableCell } from './block-shapes.ts'
import type { Names } from './inline.ts'
import { richTextWords } from './rich-text.ts'

/** What a person has chosen in a table. `page` counts from 0. */
export interface TableView {
  sort: { column: number; descending: boolean } | undefined
  query: string
  page: number
}

export interface ShownRows {
  rows: TableCell[][]
  /** The number of rows that fit the filter, and the place of the first shown one, from 0. */
  count: number
  from: number
  pages: number
  page: number
}

/** Filters, sorts and pages the rows below the header, as Slack's clients do. */
export function shownRows(rows: TableCell[][], view: TableView, { pageSize, names }: { pageSize: number; names: Names }): ShownRows {
  const words = view.query.toLowerCase().split(/\s+/)
  const fitting = rows.filter((row) => {
    const text = row
      .map((cell) => cellWords(cell, names))
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const sorted = view.sort ? sortRows(fitting, view.sort, names) : fitting
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize))
  const page = Math.min(view.page, pages - 1)
  const from = page * pageSize
  return { rows: sorted.slice(from, from + pageSize), count: sorted.length, from, pages, page }
}

export function cellWords(cell: TableCell, names: Names): string {
  if (cell.type === 'rich_text') return richTextWords(cell.elements, names)
  return cell.text ?? (cell.type === 'raw_number' ? String(cell.value) : '')
}

/** Whether all cells of a column are numbers. */
export function isNumber(rows: TableCell[][], column: number): boolean {
  return rows.every((row) => row[column]?.type === 'raw_number')
}

/** Sorts by value if all cells of the column are numbers, otherwise by their words. */
function sortRows(rows: TableCell[][], { column, descending }: NonNullable<TableView['sort']>, names: Names): TableCell[][] {
  const areNumbers = isNumber(rows, column)
  const order = (a: TableCell | undefined, b: TableCell | undefined) => {
    if (!a || !b) return 0
    if (areNumbers && a.type === 'raw_number' && b.type === 'raw_number') return a.value - b.value
    return cellWords(a, names).localeCompare(cellWords(b, names))
  }
  return rows.toSorted((a, b) => order(a[column], b[column]) * (descending ? -1 : 1))
}

/** Returns the next order of a column: ascending, descending, then as the bot sent it. */
export function nextSort(sort: TableView['sort'], column: number): TableView['sort'] {
  if (sort?.column !== column) return { column, descending: false }
  return sort.descending ? undefined : { column, descending: true }
}
