import { html, nothing, type TemplateResult } from 'lit-html'

export interface MenuItem {
  name: string
  /** Small print below the name. */
  description?: string
  pick(): void
}

export interface MenuProps {
  /** Unique in the document. */
  id: string
  /** The name of the button for screen readers. */
  label: string
  icon: TemplateResult
  items: MenuItem[]
}

/** Renders buttons that open a menu. At most one menu is open at a time. */
export function createMenus({ update }: { update(): void }) {
  let open: string | undefined

  const itemsOnPage = () => [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')]
  const opener = () => document.querySelector<HTMLElement>(`[id="${open}"]`)

  function show(id: string) {
    open = id
    update()
    requestAnimationFrame(() => itemsOnPage()[0]?.focus())
  }

  function close({ focus = true } = {}) {
    if (focus) opener()?.focus()
    open = undefined
    update()
  }

  function onKeydown(event: KeyboardEvent) {
    const items = itemsOnPage()
    const at = items.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key]
    if (event.key === 'Escape') close()
    else if (event.key === 'Tab') return close()
    else if (next !== undefined) items[next % items.length]?.focus()
    else return
    event.preventDefault()
  }

  /** Closes the menu when the focus goes elsewhere. */
  function onFocusout({ relatedTarget, currentTarget }: FocusEvent) {
    const menu = currentTarget as HTMLElement
    if (open && !(relatedTarget instanceof Node && menu.contains(relatedTarget))) close({ focus: false })
  }

  function list({ id, label, items }: MenuProps): TemplateResult {
    return html`<div
      class="popup menu"
      role="menu"
      aria-label=${label}
      data-popup-for=${id}
      data-popup-fit="content"
      @keydown=${onKeydown}
      @focusout=${onFocusout}
    >
      ${items.map(
        ({ name, description, pick }) => html`<button
          type="button"
          role="menuitem"
          class="menu-item"
          tabindex="-1"
          @click=${() => {
            close()
            pick()
          }}
        >
          <span>${name}</span>${description ? html`<span class="menu-description">${description}</span>` : nothing}
        </button>`,
      )}
    </div>`
  }

  return {
    render(props: MenuProps): TemplateResult {
      const isOpen = open === props.id
      return html`<button
          type="button"
          class="icon-button"
          id=${props.id}
          aria-label=${props.label}
          title=${props.label}
          aria-haspopup="menu"
          aria-expanded=${isOpen ? 'true' : 'false'}
          @mousedown=${(event: Event) => isOpen && event.preventDefault()}
          @click=${() => (isOpen ? close() : show(props.id))}
        >
          ${props.icon}
        </button>
        ${isOpen ? list(props) : nothing}`
    },
  }
}

export type Menus = ReturnType<typeof createMenus>
