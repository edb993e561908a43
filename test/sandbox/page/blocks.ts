import { html, nothing, type TemplateResult } from 'lit-html'
import type { Block, Element, TextObject } from './block-shapes.ts'
import type { DataTables } from './data-table.ts'
import type { Elements } from './elements.ts'
import { renderPlain, renderText } from './inline.ts'
import { type RichTextPart, renderRichText } from './rich-text.ts'
import { domId, type Surface } from './surface.ts'

/** Renders the blocks that the bot sends. Add a case for a block that it is to send next. */
export function createBlocks({ elements, tables }: { elements: Elements; tables: DataTables }) {
  function render(blocks: Block[], surface: Surface): TemplateResult {
    return html`${blocks.map((block) => renderBlock(block, surface))}`
  }

  function renderBlock(block: Block, surface: Surface): TemplateResult | typeof nothing {
    switch (block.type) {
      case 'section':
        return section(block, surface)
      case 'header':
        return html`<h3 class="block-header">${renderPlain(block.text?.text ?? '')}</h3>`
      case 'context':
        return html`<div class="block-context">${texts(block.elements as TextObject[], surface)}</div>`
      case 'divider':
        return html`<hr class="block-divider" />`
      case 'actions':
        return html`<div class="block-actions">
          ${(block.elements as Element[]).map((element) => elements.render(element, block, surface))}
        </div>`
      case 'rich_text':
        return html`<div class="text">${renderRichText((block.elements ?? []) as RichTextPart[], surface.names)}</div>`
      case 'data_table':
        return tables.render(block, surface)
      case 'input':
        return input(block, surface)
      default:
        throw new Error(`The page cannot draw a block of the type "${block.type}": add it to blocks.ts.`)
    }
  }

  function texts(all: TextObject[], surface: Surface): TemplateResult[] {
    return all.map((text) => html`<div class="text">${renderText(text, surface.names)}</div>`)
  }

  function section(block: Block, surface: Surface): TemplateResult {
    return html`<div class="block-section">
      <div class="block-section-text">
        ${block.text ? texts([block.text], surface) : nothing}
        ${block.fields ? html`<div class="block-fields">${texts(block.fields, surface)}</div>` : nothing}
      </div>
      ${block.accessory ? html`<div class="block-accessory">${elements.render(block.accessory, block, surface)}</div>` : nothing}
    </div>`
  }

  function input(block: Block, surface: Surface): TemplateResult | typeof nothing {
    const element = block.element
    if (!element) return nothing
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

  return { render }
}

export type Blocks = ReturnType<typeof createBlocks>
