import { html, nothing, type TemplateResult } from 'lit-html'
import type { Block, ContextElement, Element, RichPart, TableCell, TextObject } from './block-shapes.ts'
import type { Elements } from './elements.ts'
import { renderPlain, renderText } from './inline.ts'
import { renderRichText } from './rich-text.ts'
import { domId, type Surface } from './surface.ts'
import { unknownThing } from './unknown.ts'

/** Block Kit, as far as this bot and its likely neighbours use it; the rest is shown as unknown. */
export function createBlocks({ elements }: { elements: Elements }) {
  function render(blocks: Block[], surface: Surface): TemplateResult {
    return html`${blocks.map((block) => renderBlock(block, surface))}`
  }

  function renderBlock(block: Block, surface: Surface): TemplateResult {
    switch (block.type) {
      case 'section':
        return section(block, surface)
      case 'header':
        return html`<h3 class="block-header">${renderPlain(block.text?.text ?? '')}</h3>`
      case 'context':
        return html`<div class="block-context">${parts<ContextElement>(block).map((part) => contextPart(part, surface))}</div>`
      case 'divider':
        return html`<hr class="block-divider" />`
      case 'actions':
        return html`<div class="block-actions">${parts<Element>(block).map((element) => elements.render(element, block, surface))}</div>`
      case 'input':
        return input(block, surface)
      case 'rich_text':
        return html`<div class="block-rich">${renderRichText(parts<RichPart>(block), surface.names)}</div>`
      case 'image':
        return image(block)
      case 'table':
        return table(block, surface)
      default:
        return unknownThing('block', block)
    }
  }

  function section(block: Block, surface: Surface): TemplateResult {
    return html`<div class="block-section">
      <div class="block-section-text">
        ${block.text ? html`<div class="text">${renderText(block.text, surface.names)}</div>` : nothing}
        ${
          block.fields
            ? html`<div class="block-fields">${block.fields.map((text) => html`<div class="text">${renderText(text, surface.names)}</div>`)}</div>`
            : nothing
        }
      </div>
      ${block.accessory ? html`<div class="block-accessory">${elements.render(block.accessory, block, surface)}</div>` : nothing}
    </div>`
  }

  function contextPart(part: ContextElement, surface: Surface): TemplateResult {
    if (part.type === 'image') return html`<img class="context-image" src=${part.image_url ?? ''} alt=${part.alt_text ?? ''} />`
    return html`<div class="text">${renderText(part as TextObject, surface.names)}</div>`
  }

  function input(block: Block, surface: Surface): TemplateResult {
    const element = block.element
    if (!element) return unknownThing('block', block)
    const id = domId(surface, block.block_id, element.action_id)
    const error = surface.errors?.[block.block_id ?? '']
    const described = [block.optional && `${id}-optional`, block.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
    const field = { id, invalid: error !== undefined, describedBy: described || undefined, dispatch: block.dispatch_action ?? false }
    return html`<div class="block-input ${error ? 'has-error' : ''}">
      <div class="input-label">
        <label id=${`${id}-label`} for=${id}>${renderPlain(block.label?.text ?? '')}</label>
        ${block.optional ? html`<span class="input-optional" id=${`${id}-optional`}>(optional)</span>` : nothing}
      </div>
      ${elements.render(element, block, surface, field)}
      ${error ? html`<div class="input-error" id=${`${id}-error`} role="alert">${renderPlain(error)}</div>` : nothing}
      ${block.hint ? html`<div class="input-hint" id=${`${id}-hint`}>${renderPlain(block.hint.text)}</div>` : nothing}
    </div>`
  }

  function image(block: Block): TemplateResult {
    return html`<figure class="block-image">
      ${block.title ? html`<figcaption>${renderPlain(block.title.text)}</figcaption>` : nothing}
      <img src=${block.image_url ?? ''} alt=${block.alt_text ?? ''} loading="lazy" />
    </figure>`
  }

  function table(block: Block, surface: Surface): TemplateResult {
    const [head, ...body] = block.rows ?? []
    const alignment = (column: number) => `align-${block.column_settings?.[column]?.align ?? 'left'}`
    const content = (cell: TableCell) =>
      cell.type === 'rich_text' ? renderRichText(cell.elements ?? [], surface.names) : (cell.text ?? cell.value)
    return html`<div class="block-table" tabindex="0" role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            ${head?.map((cell, column) => html`<th scope="col" class=${alignment(column)}>${content(cell)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${body.map((row) => html`<tr>${row.map((cell, column) => html`<td class=${alignment(column)}>${content(cell)}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`
  }

  return { render }
}

function parts<Part>(block: Block): Part[] {
  return (block.elements ?? []) as Part[]
}

export type Blocks = ReturnType<typeof createBlocks>
