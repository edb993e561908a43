import { html, nothing, type TemplateResult } from 'lit-html'
import type { Confirmation } from './block-shapes.ts'
import { type Names, renderPlain, renderText } from './inline.ts'

/** The question that Slack shows before an element with `confirm` acts. */
export function createConfirm({ update }: { update(): void }) {
  let shown: { question: Confirmation; names: Names; answer(yes: boolean): void } | undefined

  function settle(yes: boolean) {
    const answer = shown?.answer
    shown = undefined
    update()
    answer?.(yes)
  }

  return {
    ask(question: Confirmation, names: Names): Promise<boolean> {
      return new Promise((answer) => {
        shown = { question, names, answer }
        update()
      })
    },

    /** Answers no. Returns whether there was a question. */
    cancel(): boolean {
      const wasShown = shown !== undefined
      if (wasShown) settle(false)
      return wasShown
    },

    isOpen: () => shown !== undefined,

    render(): TemplateResult | typeof nothing {
      if (!shown) return nothing
      const { question, names } = shown
      return html`<dialog
        class="dialog confirm"
        aria-labelledby="confirm-title"
        aria-describedby="confirm-text"
        @cancel=${(event: Event) => {
          event.preventDefault()
          settle(false)
        }}
      >
        <h2 class="dialog-title" id="confirm-title">${renderPlain(question.title.text)}</h2>
        <div class="confirm-text" id="confirm-text">${renderText(question.text, names)}</div>
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${() => settle(false)}>${question.deny.text}</button>
          <button type="button" class="button ${question.style === 'danger' ? 'button-danger-filled' : 'button-primary'}" data-autofocus @click=${() => settle(true)}>${question.confirm.text}</button>
        </div>
      </dialog>`
    },
  }
}

export type Confirm = ReturnType<typeof createConfirm>
