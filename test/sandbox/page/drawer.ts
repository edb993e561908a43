import { html, nothing, type TemplateResult } from 'lit-html'
import type { Api, Breakage } from './api.ts'
import { icons } from './icons.ts'
import { unbrokenWords } from './unbroken-words.ts'

export interface DrawerOptions {
  api: Api
  /** Shows a sentence after the drawer has closed by itself. */
  notify(sentence: string, about: string): void
  update(): void
}

/** Whether the drawer covers what people watch, so that it closes once something is broken. */
const covers = () => matchMedia('(max-width: 1040px)').matches

/** The drawer in which people break things, to see what Lockkeeper does then. Without a sandbox around the page it is empty and not offered. */
export function createDrawer({ api, notify, update }: DrawerOptions) {
  let breakages: Breakage[] = []
  let isOpen = false
  let busy: string | undefined
  /** What the last act has done, by its id. */
  let said: { id: string; sentence: string } | undefined
  /** The pages of other people in this browser, each with its own drawer. */
  const others = new BroadcastChannel('breakages')
  others.onmessage = () => void read()
  // Some switches turn off by themselves.
  setInterval(() => breakages.some(isBroken) && busy === undefined && void read(), 2_000)

  async function read() {
    const answer = await api.breakages()
    if (answer.ok) breakages = answer.breakages
    update()
  }

  async function use(id: string, on?: boolean) {
    busy = id
    said = undefined
    if (covers()) setOpen(false)
    update()
    const answer = await api.break(id, on)
    busy = undefined
    if (answer.ok) breakages = answer.breakages
    others.postMessage('changed')
    const sentence = answer.ok ? answer.said : answer.error
    if (sentence) said = { id, sentence }
    const words = sentence ?? stateOf(id)
    if (!isOpen && words) notify(words, 'drawer')
    update()
  }

  const isBroken = (breakage: Breakage) => breakage.kind === 'switch' && breakage.isOn

  function stateOf(id: string): string | undefined {
    const breakage = breakages.find((one) => one.id === id)
    return breakage && `${isBroken(breakage) ? 'Switched on' : 'Switched off again'}: “${breakage.name}”.`
  }

  function setOpen(next: boolean) {
    isOpen = next
    if (next) {
      void read()
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.drawer .icon-button')?.focus())
    } else document.querySelector<HTMLElement>('.drawer-toggle')?.focus()
    update()
  }

  function control(breakage: Breakage): TemplateResult {
    const { id } = breakage
    if (breakage.kind === 'act') {
      return html`<button type="button" class="button ${busy === id ? 'is-busy' : ''}" aria-describedby=${`break-${id}`} @click=${() => use(id)}>
        <span class="button-text">${breakage.verb}</span>${busy === id ? html`<span class="spinner"></span>` : nothing}
      </button>`
    }
    return html`<button
      type="button"
      class="switch"
      role="switch"
      aria-checked=${breakage.isOn ? 'true' : 'false'}
      aria-label=${breakage.name}
      aria-describedby=${`break-${id}`}
      @click=${() => use(id, !breakage.isOn)}
    >
      <span class="switch-knob"></span>
    </button>`
  }

  function row(breakage: Breakage): TemplateResult {
    const { id, name, effect } = breakage
    return html`<li class="breakage">
      <div class="breakage-words">
        <strong>${name}</strong>
        <span id=${`break-${id}`}>${unbrokenWords(effect)}</span>
        <span class="breakage-said" role="status">${said?.id === id ? said.sentence : nothing}</span>
      </div>
      ${control(breakage)}
    </li>`
  }

  return {
    read,
    isOpen: () => isOpen,
    close: () => setOpen(false),

    /** Renders the button that opens the drawer. It shows while a switch is on. */
    toggle(): TemplateResult | typeof nothing {
      if (breakages.length === 0) return nothing
      const broken = breakages.filter(isBroken).length
      return html`<button
        type="button"
        class="bar-button drawer-toggle ${broken > 0 ? 'is-on' : ''}"
        aria-label=${broken > 0 ? 'Break something (something is broken now)' : 'Break something'}
        aria-expanded=${isOpen ? 'true' : 'false'}
        @click=${() => setOpen(!isOpen)}
      >
        ${icons.hammer}<span class="bar-words">${broken > 0 ? 'Something is broken' : 'Break something'}</span>${broken > 0 ? html`<span class="badge">${broken}</span>` : nothing}
      </button>`
    },

    render(): TemplateResult | typeof nothing {
      if (!isOpen) return nothing
      return html`<aside class="drawer" aria-label="Break something">
        <header class="thread-head">
          <h2>Break something</h2>
          <button type="button" class="icon-button" aria-label="Close the drawer" @click=${() => setOpen(false)}>${icons.close}</button>
        </header>
        <p class="drawer-intro">See what Lockkeeper does when something fails. Nothing here is real.</p>
        <ul>
          ${breakages.map(row)}
        </ul>
      </aside>`
    },
  }
}

export type Drawer = ReturnType<typeof createDrawer>
