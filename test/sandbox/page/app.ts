import { html, render } from 'lit-html'
import { api } from './api.ts'
import { composer } from './composer.ts'
import { settleDialogs } from './dialogs.ts'
import { readBreakages } from './drawer.ts'
import { closeOnEscape, renderPage } from './frame.ts'
import { followMessageLinks } from './message-links.ts'
import { channelHere, page, startPage, tabHere, update } from './page.ts'
import { settlePicker } from './picker.ts'
import { renderTwoPeople } from './two-people.ts'

const query = new URLSearchParams(location.search)
const workspace = await api.workspace()
if (!workspace.ok) render(html`<p class="lost" role="alert">${workspace.error}</p>`, document.body)
else if (query.has('beside')) renderTwoPeople(workspace, query)
else {
  startPage(workspace, paint)
  followMessageLinks()
  document.addEventListener('keydown', closeOnEscape)
  // "today at 9:05" becomes outdated.
  setInterval(update, 60_000)
  void readBreakages()
  composer.focus()
}

let threadBefore: string | undefined

function paint() {
  render(renderPage(), document.body)
  settleDialogs()
  settlePicker()
  if (page.thread && page.thread !== threadBefore) document.querySelector<HTMLElement>('.thread-list')?.focus()
  threadBefore = page.thread
  document.title = `${tabHere() ? '' : '#'}${channelHere().name} · ${page.workspace.team.name} · ${page.me.name}`
}
