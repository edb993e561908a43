import { html, nothing, type TemplateResult } from 'lit-html'
import type { Option } from './block-shapes.ts'
import { icons } from './icons.ts'
import { plainWithEmoji } from './inline.ts'

export interface MenuProps {
  /** Unique in the document. */
  id: string
  label: string
  options: Option[]
  busy: boolean
  onPick(option: Option): void
}

/** Overflow menus: a button with three dots, at most one of them open. */
export function createMenus({ update }: { update(): void }) {
  let open: string | undefined

  function toggle(id: string | undefined) {
    open = id
    update()
    // Waits for the menu to be in the document.
    if (id) requestAnimationFrame(() => document.getElementById(`${id}-item-0`)?.focus())
  }

  function onKeydown(event: KeyboardEvent, { id, options }: MenuProps) {
    const current = Number(/-item-(\d+)$/.exec((event.target as HTMLElement).id)?.[1] ?? -1)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      document.getElementById(`${id}-item-${(current + step + options.length) % options.length}`)?.focus()
    }
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      toggle(undefined)
      document.getElementById(id)?.focus()
    }
  }

  function onFocusout(event: FocusEvent) {
    const inside = (event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)
    if (open && !inside) toggle(undefined)
  }

  function item(props: MenuProps, option: Option, index: number): TemplateResult {
    const pick = () => {
      toggle(undefined)
      document.getElementById(props.id)?.focus()
      props.onPick(option)
    }
    return html`<button type="button" role="menuitem" class="menu-item" id=${`${props.id}-item-${index}`} @click=${pick}>
      ${plainWithEmoji(option.text.text)}
      ${option.description ? html`<span class="option-description">${plainWithEmoji(option.description.text)}</span>` : nothing}
    </button>`
  }

  return {
    render(props: MenuProps): TemplateResult {
      const isOpen = open === props.id
      return html`<span class="menu" @keydown=${(event: KeyboardEvent) => isOpen && onKeydown(event, props)} @focusout=${onFocusout}>
        <button
          type="button"
          class="button button-square"
          id=${props.id}
          aria-label=${props.label}
          aria-haspopup="menu"
          aria-expanded=${isOpen ? 'true' : 'false'}
          aria-busy=${props.busy}
          ?disabled=${props.busy}
          @click=${() => toggle(isOpen ? undefined : props.id)}
        >
          ${props.busy ? html`<span class="spinner"></span>` : icons.more}
        </button>
        ${
          isOpen
            ? html`<span class="popup" role="menu" aria-label=${props.label} data-popup-for=${props.id} data-width="own" data-align="right">
                ${props.options.map((option, index) => item(props, option, index))}
              </span>`
            : nothing
        }
      </span>`
    },
  }
}

export type Menus = ReturnType<typeof createMenus>
