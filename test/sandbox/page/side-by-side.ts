import { html, nothing, render, type TemplateResult } from 'lit-html'
import type { Person, Workspace } from './api.ts'
import { icons } from './icons.ts'

/** Whether this page is one of two side by side. */
export const isBeside = window.parent !== window

/** Returns the person on the other side, if the address asks for two. */
export function besideIn(search: string): string | null {
  return new URLSearchParams(search).get('beside')
}

/** Opens the page for two people. Back returns from it. */
export function openSideBySide(as: string, workspace: Workspace, channel: string) {
  const other = besideOf(as, workspace.people)
  if (other) location.assign(`?${new URLSearchParams({ as, channel, beside: other.id })}`)
}

/** Returns the person who is most useful beside this one: an approver for everybody else, the requester for an approver. */
function besideOf(as: string, people: Person[]): Person | undefined {
  const me = people.find(({ id }) => id === as)
  const wanted = me?.role === 'approver' ? 'requester' : 'approver'
  return people.find(({ id, role }) => id !== as && role === wanted)
}

/** What the page on one side sends to the page around it: whom it shows, and what waits for that person. */
interface Side {
  id: string
  name: string
  waiting: { count: number; words: string }
}

/** Sends to the page around this one whom this side shows. Called after every render. */
export function updateOtherSide({ id, name }: Person, waiting: Side['waiting']) {
  if (isBeside) window.parent.postMessage({ id, name, waiting } satisfies Side, location.origin)
}

/**
 * Renders the whole page as two frames. Each is the page of one person, who can be switched there. A narrow screen shows one side at a time,
 * with tabs that say for whom something waits.
 */
export function renderSideBySide(workspace: Workspace) {
  const query = new URLSearchParams(location.search)
  const channel = query.get('channel') ?? workspace.channels[0]?.id ?? ''
  const sides = [query.get('as'), query.get('beside')]
    .map((id, index) => workspace.people.find((one) => one.id === id) ?? workspace.people[index])
    .filter((person) => person !== undefined)
    .map(({ id, name }) => ({
      start: `?${new URLSearchParams({ as: id, channel })}`,
      side: { id, name, waiting: { count: 0, words: '' } } as Side,
    }))
  let shown = 0

  function paint() {
    const alone = `?${new URLSearchParams({ as: sides[0]?.side.id ?? '', channel })}`
    document.title = `${sides.map(({ side }) => side.name).join(' and ')} · ${workspace.team.name}`
    render(
      html`<div class="two-sides">
        <header class="top-bar">
          <h1 class="team-name only-wide">Two people side by side</h1>
          <nav class="side-tabs" aria-label="Sides">${sides.map(({ side }, index) => tab(side, index === shown, () => show(index)))}</nav>
          <a class="bar-button" href=${alone} aria-label="One person">${icons.close}<span class="bar-words">One person</span></a>
        </header>
        ${sides.map(({ start, side }, index) => html`<iframe class=${index === shown ? 'is-shown' : ''} title=${side.name} src=${start}></iframe>`)}
      </div>`,
      document.body,
    )
  }

  function show(index: number) {
    shown = index
    paint()
  }

  window.addEventListener('message', ({ origin, source, data }: MessageEvent<Side>) => {
    const index = [...document.querySelectorAll('iframe')].findIndex(({ contentWindow }) => contentWindow === source)
    const sender = sides[index]
    if (origin !== location.origin || !sender) return
    sender.side = data
    paint()
  })
  paint()
}

function tab({ name, waiting: { count, words } }: Side, isShown: boolean, show: () => void): TemplateResult {
  return html`<button type="button" aria-current=${isShown ? 'true' : nothing} aria-label=${count > 0 ? `${name}, ${words}` : name} @click=${show}>
    <span class="side-name">${name}</span>${count > 0 ? html`<span class="badge">${count}</span>` : nothing}
  </button>`
}
