import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Block, TableCell } from './block-shapes.ts'
import { icons } from './icons.ts'
import type { Names } from './inline.ts'
import { renderRichText } from './rich-text.ts'
import { domId, type Surface } from './surface.ts'
import { cellWords, isNumber, nextSort, type ShownRows, shownRows, type TableView } from './table-rows.ts'
import { unbrokenWords } from './unbroken-words.ts'

/** Slack's default. */
const usualPageSize = 5

/** Renders `data_table` blocks. Each person sorts, filters and pages a table for themselves, as in Slack. */
export function createDataTables({ update }: { update(): void }) {
  const views = new Map<string, TableView>()

  function render(block: Block, surface: Surface): TemplateResult {
    const id = domId(surface, block.block_id)
    const view = views.get(id) ?? { sort: undefined, query: '', page: 0 }
    const change = (next: Partial<TableView>) => {
      views.set(id, { ...view, ...next })
      update()
    }
    const [header = [], ...rows] = block.rows ?? []
    const pageSize = block.page_size ?? usualPageSize
    const shown = shownRows(rows, view, { pageSize, names: surface.names })
    const rowHeader = block.row_header_column_index ?? 0
    return html`<div class="data-table">
      <div class="table-frame">
        <div class="table-scroll" role="region" aria-labelledby=${`${id}-caption`} tabindex="0">
          <table>
            <caption id=${`${id}-caption`}><span>${block.caption}</span></caption>
            <thead>
              <tr>${header.map((cell, column) => headerCell({ words: cellWords(cell, surface.names), column, isNumber: isNumber(rows, column) }, view, change))}</tr>
            </thead>
            <tbody>${shown.rows.map((row) => html`<tr>${row.map((cell, column) => bodyCell(cell, column === rowHeader, surface.names))}</tr>`)}</tbody>
          </table>
        </div>
      </div>
      ${foot(id, shown, { total: rows.length, pageSize, view, change })}
    </div>`
  }

  return { render }
}
export type DataTables = ReturnType<typeof createDataTables>

type Change = (next: Partial<TableView>) => void

interface Header {
  words: string
  column: number
  isNumber: boolean
}

function headerCell({ words, column, isNumber }: Header, { sort }: TableView, change: Change): TemplateResult {
  const isSorted = sort?.column === column
  const order = isSorted ? (sort.descending ? 'descending' : 'ascending') : nothing
  return html`<th scope="col" class=${isNumber ? 'is-number' : ''} aria-sort=${order}>
    <button type="button" @click=${() => change({ sort: nextSort(sort, column), page: 0 })}>
      <span>${words}</span><span class="sort-mark ${isSorted ? '' : 'is-idle'} ${isSorted && sort.descending ? 'is-down' : ''}">${icons.arrowUp}</span>
    </button>
  </th>`
}

function bodyCell(cell: TableCell, isRowHeader: boolean, names: Names): TemplateResult {
  const content = html`<div class="cell">${cell.type === 'rich_text' ? renderRichText(cell.elements, names) : unbrokenWords(cellWords(cell, names))}</div>`
  const kind = cell.type === 'raw_number' ? 'is-number' : ''
  return isRowHeader ? html`<th scope="row" class=${kind}>${content}</th>` : html`<td class=${kind}>${content}</td>`
}

interface Foot {
  total: number
  pageSize: number
  view: TableView
  change: Change
}

function foot(
  id: string,
  { rows, count, from, page, pages }: ShownRows,
  { total, pageSize, view, change }: Foot,
): TemplateResult | typeof nothing {
  if (total <= Math.min(pageSize, 3)) return nothing
  const range = count === 0 ? 'No rows' : `${from + 1}–${from + rows.length} of ${count}`
  return html`<div class="table-foot">
    <input
      type="search"
      class="text-field table-filter"
      id=${`${id}-filter`}
      aria-label="Filter rows"
      placeholder="Filter"
      autocomplete="off"
      .value=${live(view.query)}
      @input=${(event: Event) => change({ query: (event.target as HTMLInputElement).value, page: 0 })}
    />
    <span class="table-range" role="status">${range}</span>
    ${pages > 1 ? pager(page, pages, change) : nothing}
  </div>`
}

function pager(page: number, pages: number, change: Change): TemplateResult {
  return html`<button type="button" class="icon-button" aria-label="Previous rows" ?disabled=${page === 0} @click=${() => change({ page: page - 1 })}>
      ${icons.back}
    </button>
    <button type="button" class="icon-button" aria-label="Next rows" ?disabled=${page === pages - 1} @click=${() => change({ page: page + 1 })}>
      ${icons.forward}
    </button>`
}
