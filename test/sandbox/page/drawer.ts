import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { api } from './api.ts'
import { iconButton, icons } from './icons.ts'
import { notify, page, refresh, update } from './page.ts'
import type { Breakage } from './shapes.ts'

let breakages: Breakage[] = []
let isOpen = false
let busy: string | undefined
/** What the last use has done, by its id. */
let said: { id: string; sentence: string } | undefined

export const isDrawerOpen = () => isOpen

/** Whether the drawer covers what people watch, so that it closes once something is broken. */
const covers = () => matchMedia('(max-width: 1040px)').matches

const isBroken = (breakage: Breakage) => breakage.kind === 'switch' && breakage.isOn

/** Reads what is broken, again and again: some switches turn off by themselves, and others are used on another page. */
export async function readBreakages() {
  const answer = await api.breakages()
  if (answer.ok && busy === undefined) breakages = answer.breakages
  update()
  // At the beginning the page is there before what it can break.
  if (answer.ok || breakages.length > 0) setTimeout(readBreakages, 2_000)
}

async function use({ id, name }: Breakage, on?: boolean) {
  busy = id
  said = undefined
  if (covers()) setDrawerOpen(false)
  update()
  const answer = await api.break(id, on)
  busy = undefined
  if (answer.ok) breakages = answer.breakages
  // A switch can bring a command.
  void refresh()
  page.startsOver = answer.ok && id === 'start-over'
  const sentence = answer.ok ? answer.said : answer.error
  if (sentence) said = { id, sentence }
  if (!isOpen) notify(sentence ?? `${on ? 'Switched on' : 'Switched off again'}: “${name}”.`, 'drawer')
  update()
}

export function setDrawerOpen(next: boolean) {
  isOpen = next
  update()
  requestAnimationFrame(() => document.querySelector<HTMLElement>(next ? '.drawer .icon-button' : '.drawer-toggle')?.focus())
}

export function drawerToggle(): TemplateResult | typeof nothing {
  if (breakages.length === 0) return nothing
  const broken = breakages.filter(isBroken).length
  return html`<button
    type="button"
    class="bar-button row drawer-toggle ${broken > 0 ? 'is-on' : ''}"
    aria-label=${broken > 0 ? 'Break something (something is broken now)' : 'Break something'}
    aria-expanded=${isOpen}
    @click=${() => setDrawerOpen(!isOpen)}
  >
    ${icons.hammer}<span class="only-wide">${broken > 0 ? 'Something is broken' : 'Break something'}</span>
    ${broken > 0 ? html`<span class="badge">${broken}</span>` : nothing}
  </button>`
}

export function renderDrawer(): TemplateResult | typeof nothing {
  if (!isOpen) return nothing
  return html`<aside class="drawer column" aria-label="Break something">
    <header class="head row">
      <h2>Break something</h2>
      ${iconButton('Close the drawer', icons.close, () => setDrawerOpen(false))}
    </header>
    <p>See what Lockkeeper does when something fails. Nothing here is real.</p>
    ${breakages.map(row)}
  </aside>`
}

function row(breakage: Breakage): TemplateResult {
  const { id, name, effect } = breakage
  const described = `break-${id}`
  return html`<div class="breakage">
    <div>
      <strong>${name}</strong>
      <div class="small" id=${described}>${effect}</div>
      <strong class="small" role="status">${said?.id === id ? said.sentence : nothing}</strong>
    </div>
    ${
      breakage.kind === 'act'
        ? html`<button type="button" class="button" aria-busy=${busy === id} aria-describedby=${described} @click=${() => use(breakage)}>
            ${breakage.verb}
          </button>`
        : html`<input type="checkbox" class="switch" role="switch" aria-label=${name} aria-describedby=${described}
            .checked=${live(breakage.isOn !== (busy === id))} @change=${() => use(breakage, !breakage.isOn)} />`
    }
  </div>`
}
