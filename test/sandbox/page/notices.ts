import { html, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { icons } from './icons.ts'

const shownMs = 9_000

/** Shows what Slack itself reports to a person, in a corner for a while. */
export function createNotices({ update }: { update(): void }) {
  let notices: { id: number; sentence: string; about: string }[] = []
  let count = 0

  function remove(id: number) {
    notices = notices.filter((notice) => notice.id !== id)
    update()
  }

  return {
    /** A notice replaces an earlier one about the same. By default that is the same sentence, which gets a new duration. */
    show(sentence: string, about: string = sentence) {
      count += 1
      const id = count
      notices = [...notices.filter((notice) => notice.about !== about), { id, sentence, about }]
      setTimeout(() => remove(id), shownMs)
      update()
    },

    render(): TemplateResult {
      return html`<div class="notices" role="status">
        ${repeat(
          notices,
          ({ id }) => id,
          ({ id, sentence }) => html`<div class="notice">
            <span>${sentence}</span>
            <button type="button" class="icon-button" aria-label="Dismiss" @click=${() => remove(id)}>${icons.close}</button>
          </div>`,
        )}
      </div>`
    },
  }
}

export type Notices = ReturnType<typeof createNotices>
