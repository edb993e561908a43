import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Channel, Command } from './api.ts'
import { icons } from './icons.ts'
import { currentCommand, fittingCommands, isHalfWord, suggestionList } from './suggestions.ts'

export interface ComposerOptions {
  commands: Command[]
  send(text: string): Promise<boolean>
  update(): void
}

/** The field for messages, and for commands from the list that `/` opens. */
export function createComposer({ commands, send, update }: ComposerOptions) {
  let text = ''
  let last = ''
  /** Index of the active suggestion. -1: none, so that Enter sends the text. */
  let active = -1
  let dismissed = false
  let busy = false

  const field = () => document.querySelector<HTMLTextAreaElement>('#composer-field')

  function suggestions(): Command[] {
    return dismissed ? [] : fittingCommands(commands, text)
  }

  function write(next: string) {
    text = next
    dismissed = false
    active = isHalfWord(commands, text) ? 0 : -1
    update()
  }

  function complete({ command, usage }: Command) {
    write(usage === '' ? command : `${command} `)
    active = -1
    focus()
  }

  function focus() {
    requestAnimationFrame(() => {
      const input = field()
      input?.focus()
      input?.setSelectionRange(text.length, text.length)
    })
  }

  async function submit() {
    const sent = text.trim()
    if (sent === '') return
    last = sent
    busy = true
    write('')
    const ok = await send(sent)
    busy = false
    if (!ok && text === '') write(sent)
    else update()
  }

  function onKeydown(event: KeyboardEvent) {
    const shown = suggestions()
    const chosen = shown[active]
    if (shown.length > 0 && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      active = active < 0 ? (step === 1 ? 0 : shown.length - 1) : (active + step + shown.length) % shown.length
      update()
      requestAnimationFrame(() => document.querySelector('.suggestion.is-active')?.scrollIntoView({ block: 'nearest' }))
    } else if (event.key === 'ArrowUp' && text === '' && last !== '') {
      event.preventDefault()
      write(last)
      dismissed = true
      focus()
    } else if (event.key === 'Tab' && !event.shiftKey && shown[0]) {
      event.preventDefault()
      complete(chosen ?? shown[0])
    } else if (event.key === 'Escape' && shown.length > 0) {
      event.preventDefault()
      dismissed = true
      update()
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      if (chosen) complete(chosen)
      else void submit()
    }
  }

  return {
    focus,

    fill(next: string) {
      write(next)
      dismissed = true
      focus()
    },

    render(channel: Channel): TemplateResult {
      const shown = suggestions()
      const known = shown.length === 0 ? currentCommand(commands, text) : undefined
      return html`<div class="composer-area">
        ${suggestionList(shown, active, complete)}
        <form
          class="composer"
          @submit=${(event: Event) => {
            event.preventDefault()
            void submit()
          }}
        >
          <textarea
            id="composer-field"
            rows="1"
            aria-label="Message"
            aria-autocomplete="list"
            aria-controls=${shown.length > 0 ? 'suggestions' : nothing}
            aria-activedescendant=${shown[active] ? `suggestion-${active}` : nothing}
            aria-describedby=${known ? 'composer-usage' : nothing}
            placeholder=${`Message #${channel.name}, or type / for a command`}
            autocomplete="off"
            spellcheck="false"
            .value=${live(text)}
            @input=${(event: InputEvent) => write((event.target as HTMLTextAreaElement).value)}
            @keydown=${onKeydown}
          ></textarea>
          <div class="composer-bar">
            <button
              type="button"
              class="icon-button"
              aria-label="Commands"
              title="Commands"
              @click=${() => {
                write('/')
                focus()
              }}
            >
              ${icons.slash}
            </button>
            <span class="composer-usage" id="composer-usage">
              ${known ? html`<code>${known.command} ${known.usage}</code><span class="usage-words">${known.description}</span>` : nothing}
            </span>
            <button type="submit" class="send" aria-label="Send" title="Send" ?disabled=${text.trim() === ''} aria-busy=${busy ? 'true' : nothing}>
              ${busy ? html`<span class="spinner"></span>` : icons.send}
            </button>
          </div>
        </form>
      </div>`
    },
  }
}

export type Composer = ReturnType<typeof createComposer>
