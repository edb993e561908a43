import { html, nothing, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import { api } from './api.ts'
import { renderBlocks } from './blocks.ts'
import { answerQuestion, cancelQuestion, questionNow, valuesOf } from './forms.ts'
import { iconButton, icons } from './icons.ts'
import { openViews, page, refresh, update } from './page.ts'
import { closePicker } from './picker.ts'
import type { OpenView, Surface } from './shapes.ts'
import { plainWithEmoji, renderPlain, renderText } from './text.ts'

/** What is wrong with a view: at its fields, and as a whole. */
let wrong: { viewId: string; errors?: Record<string, string>; sentence?: string } | undefined
/** The id of the view that is being submitted. */
let submitting: string | undefined
let focused: string | undefined

const surfaceOf = ({ id, view }: OpenView): Surface => ({
  key: id,
  place: { viewId: id },
  seen: { view },
  errors: wrong?.viewId === id ? wrong.errors : undefined,
})

function showErrors(viewId: string, errors: Record<string, string>) {
  wrong = { viewId, errors }
  update()
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.modal .field[aria-invalid="true"]')?.focus())
}

async function submit(top: OpenView) {
  if (submitting) return
  closePicker()
  const { id, view } = top
  submitting = id
  wrong = undefined
  update()
  const answer = await api.submit(page.me.id, id, valuesOf(surfaceOf(top), view))
  const sentence = answer.ok ? answer.notice : answer.error
  if (sentence) wrong = { viewId: id, sentence }
  if (answer.ok) await refresh()
  submitting = undefined
  if (answer.ok && answer.errors) showErrors(id, answer.errors)
  else update()
}

async function close({ id }: OpenView, clear = false) {
  const answer = await api.close(page.me.id, id, clear)
  if (!answer.ok) wrong = { viewId: id, sentence: answer.error }
  await refresh()
}

export function renderModal(): TemplateResult {
  const top = openViews().at(-1)
  const cancel = (event: Event) => {
    event.preventDefault()
    if (top) void close(top)
  }
  return html`<dialog class="modal" aria-labelledby="modal-title" @cancel=${cancel}>
    ${top && !page.isFormAside ? form(top) : nothing}
  </dialog>`
}

function form(top: OpenView): TemplateResult {
  const { id, view } = top
  const isBusy = submitting === id
  const submitText = view.submit?.text ?? (view.blocks.some(({ type }) => type === 'input') ? 'Submit' : undefined)
  const send = (event: Event) => {
    event.preventDefault()
    void submit(top)
  }
  return html`${keyed(
    id,
    html`<form class="column" novalidate @submit=${send}>
      <header class="row">
        <h2 id="modal-title">${renderPlain(view.title?.text ?? '')}</h2>
        ${iconButton('Close dialog', icons.close, () => close(top, true))}
      </header>
      <div class="modal-body">
        ${wrong?.viewId === id && wrong.sentence ? html`<div class="error" role="alert">${wrong.sentence}</div>` : nothing}
        ${renderBlocks(view.blocks, surfaceOf(top))}
      </div>
      <footer class="row">
        <button type="button" class="button" @click=${() => close(top)}>
          ${openViews().length > 1 ? 'Back' : plainWithEmoji(view.close?.text ?? (submitText ? 'Cancel' : 'Close'))}
        </button>
        ${
          submitText
            ? html`<button type="submit" class="button primary" aria-busy=${isBusy}>${plainWithEmoji(submitText)}</button>`
            : nothing
        }
      </footer>
    </form>`,
  )}`
}

export function renderQuestion(): TemplateResult {
  const asked = questionNow()
  const content =
    asked &&
    html`<header class="row"><h2 id="question-title">${renderPlain(asked.title.text)}</h2></header>
      <div class="modal-body" id="question-text">${renderText(asked.text)}</div>
      <footer class="row">
        <button type="button" class="button" @click=${cancelQuestion}>${asked.deny.text}</button>
        <button type="button" class="button ${asked.style ?? 'primary'}" @click=${() => answerQuestion(true)}>${asked.confirm.text}</button>
      </footer>`
  const cancel = (event: Event) => {
    event.preventDefault()
    cancelQuestion()
  }
  return html`<dialog class="question" aria-labelledby="question-title" aria-describedby="question-text" @cancel=${cancel}>
    ${content ?? nothing}
  </dialog>`
}

/** Opens and closes the dialogs, after every render. The browser returns the focus to where it was. */
export function settleDialogs() {
  const top = page.isFormAside ? undefined : openViews().at(-1)
  toggle('.modal', top !== undefined)
  toggle('.question', questionNow() !== undefined)
  if (top && top.id !== focused) document.querySelector<HTMLElement>('.modal :is(.field, .choices input, footer button)')?.focus()
  focused = top?.id
}

function toggle(selector: string, isWanted: boolean) {
  const dialog = document.querySelector<HTMLDialogElement>(`dialog${selector}`)
  if (isWanted && !dialog?.open) dialog?.showModal()
  if (!isWanted && dialog?.open) dialog.close()
}
