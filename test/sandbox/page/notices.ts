import { html, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { icons } from './icons.ts'

const shownMs = 9_000

/** Shows what Slack itself reports to a person, in a corner for a while. */
export function createNotices({ update }: { update(): void }) {
  let notices: { id: number; sentence: string }[] = []
  let count = 0

  function remove(id: number) {
    notices = notices.filter((notice) => notice.id !== id)
    update()
  }

  return {
    show(sentence: string) {
      count += 1
      const id = count
      // The same sentence twice is one notice with a new duration.
      notices = [...notices.filter((notice) => notice.sentence !== sentence), { id, sentence }]
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
