import { html, nothing, type TemplateResult } from 'lit-html'
import { domId, type Field, renderElement } from './elements.ts'
import { iconButton, icons } from './icons.ts'
import { update } from './page.ts'
import type { Block, Element, RichTextSection, Surface, TableCell, TextObject } from './shapes.ts'
import { renderPlain, renderRichText, renderText } from './text.ts'

/** Renders the blocks that the bot sends. */
export function renderBlocks(blocks: Block[], surface: Surface): TemplateResult {
  return html`<div class="blocks">${blocks.map((block) => renderBlock(block, surface))}</div>`
}

/** Add a case for a block that the bot is to send next. */
function renderBlock(block: Block, surface: Surface): TemplateResult | typeof nothing {
  switch (block.type) {
    case 'section':
      return section(block, surface)
    case 'header':
      return html`<h3>${renderPlain(block.text?.text ?? '')}</h3>`
    case 'context':
      return html`<div class="block-context row small">${texts(block.elements as TextObject[])}</div>`
    case 'divider':
      return html`<hr />`
    case 'actions':
      return html`<div class="block-actions row">
        ${(block.elements as Element[]).map((element) => renderElement(element, block, surface))}
      </div>`
    case 'rich_text':
      return html`<div>${renderRichText(block.elements as RichTextSection[])}</div>`
    case 'data_table':
      return table(block, surface)
    case 'input':
      return input(block, surface)
    default:
      throw new Error(`The page cannot draw a block of the type "${block.type}": add it to blocks.ts.`)
  }
}

function texts(all: TextObject[]): TemplateResult[] {
  return all.map((text) => html`<div>${renderText(text)}</div>`)
}

function section(block: Block, surface: Surface): TemplateResult {
  return html`<div class="block-section">
    <div>
      ${block.text ? texts([block.text]) : nothing}
      ${block.fields ? html`<div class="block-fields">${texts(block.fields)}</div>` : nothing}
    </div>
    ${block.accessory ? renderElement(block.accessory, block, surface) : nothing}
  </div>`
}

function input(block: Block, surface: Surface): TemplateResult | typeof nothing {
  const { element, hint, optional } = block
  if (!element) return nothing
  const id = domId(surface, block.block_id, element.action_id)
  const error = surface.errors?.[block.block_id ?? '']
  const field: Field = {
    id,
    isInvalid: error !== undefined,
    describedBy: [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
    dispatch: block.dispatch_action ?? false,
  }
  return html`<div class="block-input">
    <div>
      <label id=${`${id}-label`} for=${id}>${renderPlain(block.label?.text ?? '')}</label>
      ${optional ? html`<span class="small">(optional)</span>` : nothing}
    </div>
    ${renderElement(element, block, surface, field)}
    ${error ? html`<div class="error" id=${`${id}-error`} role="alert">${renderPlain(error)}</div>` : nothing}
    ${hint ? html`<div class="small" id=${`${id}-hint`}>${renderPlain(hint.text)}</div>` : nothing}
  </div>`
}

/** Slack's default. */
const usualPageSize = 5

/** The shown page of each table, from 0. */
const pages = new Map<string, number>()

function table(block: Block, surface: Surface): TemplateResult {
  const { rows: [header = [], ...rows] = [], page_size: size = usualPageSize, row_header_column_index: named = 0 } = block
  const id = domId(surface, block.block_id)
  const last = Math.max(0, Math.ceil(rows.length / size) - 1)
  const at = Math.min(pages.get(id) ?? 0, last)
  const shown = rows.slice(at * size, (at + 1) * size)
  const turn = (to: number) => {
    pages.set(id, to)
    update()
  }
  return html`<div class="data-table">
    <div class="table-scroll" role="region" aria-labelledby=${id} tabindex="0">
      <table>
        <caption id=${id}>${block.caption}</caption>
        <thead>
          <tr>${header.map((cell, column) => html`<th scope="col" class=${kindOf(shown[0]?.[column])}>${cellContent(cell)}</th>`)}</tr>
        </thead>
        <tbody>${shown.map((row) => html`<tr>${row.map((cell, column) => bodyCell(cell, column === named))}</tr>`)}</tbody>
      </table>
    </div>
    ${
      last > 0
        ? html`<div class="table-foot row small">
            <span role="status">${at * size + 1}–${at * size + shown.length} of ${rows.length}</span>
            ${iconButton('Previous rows', icons.back, () => turn(at - 1), at === 0)}
            ${iconButton('Next rows', icons.forward, () => turn(at + 1), at === last)}
          </div>`
        : nothing
    }
  </div>`
}

function bodyCell(cell: TableCell, isRowHeader: boolean): TemplateResult {
  const [content, kind] = [cellContent(cell), kindOf(cell)]
  return isRowHeader ? html`<th scope="row" class=${kind}>${content}</th>` : html`<td class=${kind}>${content}</td>`
}

function cellContent(cell: TableCell): TemplateResult {
  return cell.type === 'rich_text' ? renderRichText(cell.elements) : html`${cell.text}`
}

const kindOf = (cell: TableCell | undefined) => (cell?.type === 'raw_number' ? 'is-number' : '')
