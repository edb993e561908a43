import { html, render, type TemplateResult } from 'lit-html'
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

/** Renders the whole page as two frames. Each is the page of one person, who can be switched there. */
export function renderSideBySide(workspace: Workspace) {
  const query = new URLSearchParams(location.search)
  const channel = query.get('channel') ?? workspace.channels[0]?.id ?? ''
  const sides = [query.get('as'), query.get('beside')].map(
    (id, index) => workspace.people.find((one) => one.id === id) ?? workspace.people[index],
  )
  const alone = `?${new URLSearchParams({ as: sides[0]?.id ?? '', channel })}`
  document.title = `${sides.map((side) => side?.name).join(' and ')} · ${workspace.team.name}`
  render(
    html`<div class="two-sides">
      <header class="top-bar">
        <h1 class="team-name">Two people side by side</h1>
        <a class="bar-button" href=${alone}>${icons.close}<span>One person</span></a>
      </header>
      ${sides.map((side) => (side ? frame(side, channel) : ''))}
    </div>`,
    document.body,
  )
}

function frame({ id, name }: Person, channel: string): TemplateResult {
  return html`<iframe title=${name} src=${`?${new URLSearchParams({ as: id, channel })}`}></iframe>`
}
