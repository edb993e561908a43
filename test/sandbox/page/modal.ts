import { html, nothing, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import type { Api, OpenView } from './api.ts'
import type { ModalView } from './block-shapes.ts'
import type { Blocks } from './blocks.ts'
import { type Forms, isEmpty } from './forms.ts'
import { icons } from './icons.ts'
import { type Names, plainWithEmoji, renderPlain } from './inline.ts'
import type { Pickers } from './pickers.ts'
import type { Surface } from './surface.ts'

export interface ModalOptions {
  api: Api
  forms: Forms
  blocks: Blocks
  pickers: Pickers
  me(): string
  refresh(): Promise<void>
  update(): void
}

/** Renders the stack of open views as one dialog with the top view. */
export function createModal({ api, forms, blocks, pickers, me, refresh, update }: ModalOptions) {
  /** The id of the view that is being submitted. */
  let submitting: string | undefined
  let trouble: { viewId: string; sentence: string } | undefined
  const errors = new Map<string, Record<string, string>>()

  function missing(surface: string, view: ModalView): Record<string, string> {
    const required = view.blocks.filter((block) => block.type === 'input' && !block.optional)
    const empty = required.filter(({ block_id, element }) => element && isEmpty(forms.read(surface, block_id ?? '', element)))
    return Object.fromEntries(empty.map(({ block_id }) => [block_id ?? '', 'Please complete this required field.']))
  }

  function showErrors(viewId: string, found: Record<string, string>) {
    errors.set(viewId, found)
    update()
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.modal [aria-invalid="true"], .modal .has-error input')?.focus())
  }

  async function submit({ id, view }: OpenView) {
    if (submitting) return
    pickers.close()
    const unfilled = missing(id, view)
    if (Object.keys(unfilled).length > 0) return showErrors(id, unfilled)
    submitting = id
    trouble = undefined
    errors.delete(id)
    update()
    const answer = await api.submit(me(), id, forms.valuesOf(id, view))
    if (!answer.ok) trouble = { viewId: id, sentence: answer.error }
    else if (answer.notice) trouble = { viewId: id, sentence: answer.notice }
    if (answer.ok) await refresh()
    submitting = undefined
    if (answer.ok && answer.errors) showErrors(id, answer.errors)
    else update()
  }

  async function close({ id }: OpenView, clear: boolean) {
    const answer = await api.close(me(), id, clear)
    if (!answer.ok) trouble = { viewId: id, sentence: answer.error }
    await refresh()
  }

  function render(views: OpenView[], names: Names): TemplateResult | typeof nothing {
    const top = views.at(-1)
    if (!top) return nothing
    const { id, view } = top
    const found = errors.get(id) ?? {}
    const surface: Surface = { key: id, place: { viewId: id }, names, seen: { view }, errors: found }
    const stacked = views.length > 1
    const busy = submitting === id
    const submitText = view.submit?.text ?? (view.blocks.some(({ type }) => type === 'input') ? 'Submit' : undefined)

    return html`<dialog
      class="dialog modal"
      aria-labelledby="modal-title"
      @cancel=${(event: Event) => {
        event.preventDefault()
        void close(top, false)
      }}
      @close=${() => close(top, false)}
    >
      ${keyed(
        id,
        html`<form
          class="modal-form"
          novalidate
          @submit=${(event: Event) => {
            event.preventDefault()
            void submit(top)
          }}
        >
          <header class="modal-head">
            ${stacked ? html`<button type="button" class="icon-button" aria-label="Back" @click=${() => close(top, false)}>${icons.back}</button>` : nothing}
            <h2 class="dialog-title" id="modal-title">${renderPlain(view.title?.text ?? '')}</h2>
            <button type="button" class="icon-button" aria-label="Close dialog" @click=${() => close(top, true)}>${icons.close}</button>
          </header>
          <div class="modal-body">
            ${trouble?.viewId === id ? html`<div class="modal-trouble" role="alert">${icons.alert}<span>${trouble.sentence}</span></div>` : nothing}
            ${blocks.render(view.blocks, surface)}
          </div>
          <footer class="dialog-buttons">
            <button type="button" class="button" @click=${() => close(top, false)}>${plainWithEmoji(view.close?.text ?? (submitText ? 'Cancel' : 'Close'))}</button>
            ${
              submitText
                ? html`<button type="submit" class="button button-primary ${busy ? 'is-busy' : ''}" aria-busy=${busy ? 'true' : nothing}>
                    <span class="button-text">${plainWithEmoji(submitText)}</span>${busy ? html`<span class="spinner"></span>` : nothing}
                  </button>`
                : nothing
            }
          </footer>
        </form>`,
      )}
    </dialog>`
  }

  return {
    render,

    /** Closes the form on top. Returns whether there was one. */
    closeTop(views: OpenView[]): boolean {
      const top = views.at(-1)
      if (top) void close(top, false)
      return top !== undefined
    },
  }
}

export type Modal = ReturnType<typeof createModal>
