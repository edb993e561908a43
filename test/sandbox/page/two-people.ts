import { html, render } from 'lit-html'
import { icons } from './icons.ts'
import { page } from './page.ts'
import type { Workspace } from './shapes.ts'

/** Opens the page for two people: an approver beside everybody else, the requester beside an approver. Back returns from it. */
export function openTwoPeople() {
  const { me, place, workspace } = page
  const wanted = me.role === 'approver' ? 'requester' : 'approver'
  const other = workspace.people.find(({ role }) => role === wanted)
  if (other) location.assign(`?${new URLSearchParams({ as: me.id, channel: place, beside: other.id })}`)
}

/** Renders two frames. Each is the page of one person, who can be switched there. */
export function renderTwoPeople({ people, channels, team }: Workspace, query: URLSearchParams) {
  const channel = query.get('channel') ?? channels[0]?.id ?? ''
  const both = ['as', 'beside'].map((name) => people.find(({ id }) => id === query.get(name))).filter((person) => person !== undefined)
  const addressOf = (as = '') => `?${new URLSearchParams({ as, channel })}`
  document.title = `${both.map(({ name }) => name).join(' and ')} · ${team.name}`
  render(
    html`<div class="two-people">
      <header class="top-bar row">
        <strong>Two people side by side</strong>
        <a class="bar-button row" href=${addressOf(both[0]?.id)}>${icons.close}One person</a>
      </header>
      ${both.map(({ id, name }) => html`<iframe title=${name} src=${addressOf(id)}></iframe>`)}
    </div>`,
    document.body,
  )
}
