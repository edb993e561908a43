import { html, render } from 'lit-html'
import { createApi } from './api.ts'
import { openPage } from './open-page.ts'
import { besideIn, renderSideBySide } from './side-by-side.ts'

const api = createApi()
const workspace = await api.workspace()
if (!workspace.ok) render(html`<p class="no-start" role="alert">${workspace.error}</p>`, document.body)
else if (besideIn(location.search)) renderSideBySide(workspace)
else openPage(api, workspace)
