import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Command } from './api.ts'
import type { CommandHistory } from './command-history.ts'
import { icons } from './icons.ts'
import { currentCommand, fittingCommands, isHalfWord, suggestionList } from './suggestions.ts'

export interface ComposerOptions {
  /** Unique in the document. */
  id: string
  /** Empty where Slack takes no commands. */
  commands: Command[]
  /** Recalled by ArrowUp. */
  history?: CommandHistory
  send(text: string): Promise<boolean>
  update(): void
}

export interface ComposerProps {
  /** The name for screen readers. */
  label: string
  placeholder: string
  /** Further buttons in the bar. */
  tools?: TemplateResult | typeof nothing
}

/** A field for messages, and for commands from the list that `/` opens. */
export function createComposer({ id, commands, history, send, update }: ComposerOptions) {
  let text = ''
  /** Index of the active suggestion. -1: none, so that Enter sends the text. */
  let active = -1
  let dismissed = false
  let busy = false

  const field = () => document.querySelector<HTMLTextAreaElement>(`#${id}-field`)

  function suggestions(): Command[] {
    return dismissed ? [] : fittingCommands(commands, text)
  }

  function write(next: string) {
    text = next
    dismissed = false
    active = isHalfWord(commands, text) ? 0 : -1
    update()
  }

  /** Writes a text that needs no suggestions, and moves the cursor to its end. */
  function fill(next: string) {
    write(next)
    dismissed = true
    focus()
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
    history?.add(sent)
    busy = true
    write('')
    const ok = await send(sent)
    busy = false
    if (!ok && text === '') write(sent)
    else update()
  }

  /** Returns the command that an arrow recalls. Undefined if the arrow moves the cursor. */
  function recalled({ key }: KeyboardEvent): string | undefined {
    if (!history || (key !== 'ArrowUp' && key !== 'ArrowDown')) return undefined
    if (history.shows(text)) return history.step(key === 'ArrowUp' ? -1 : 1)
    if (text !== '' || key === 'ArrowDown') return undefined
    history.leave()
    return history.step(-1)
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
    } else if (event.key === 'Tab' && !event.shiftKey && shown[0]) {
      event.preventDefault()
      complete(chosen ?? shown[0])
    } else if (event.key === 'Escape' && shown.length > 0) {
      event.preventDefault()
      dismissed = true
      active = -1
      update()
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      if (chosen) complete(chosen)
      else void submit()
    } else {
      const command = recalled(event)
      if (command === undefined) return
      event.preventDefault()
      fill(command)
    }
  }

  function commandsButton(): TemplateResult {
    const open = () => {
      write('/')
      focus()
    }
    return html`<button type="button" class="icon-button" aria-label="Commands" title="Commands" @click=${open}>${icons.slash}</button>`
  }

  function render({ label, placeholder, tools = nothing }: ComposerProps): TemplateResult {
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
          id=${`${id}-field`}
          rows="1"
          aria-label=${label}
          aria-autocomplete=${commands.length > 0 ? 'list' : nothing}
          aria-controls=${shown.length > 0 ? 'suggestions' : nothing}
          aria-activedescendant=${shown[active] ? `suggestion-${active}` : nothing}
          aria-describedby=${known ? `${id}-usage` : nothing}
          placeholder=${placeholder}
          autocomplete="off"
          spellcheck="false"
          .value=${live(text)}
          @input=${(event: InputEvent) => write((event.target as HTMLTextAreaElement).value)}
          @keydown=${onKeydown}
        ></textarea>
        <div class="composer-bar">
          ${commands.length > 0 ? commandsButton() : nothing} ${tools}
          <span class="composer-usage" id=${`${id}-usage`}>
            ${known ? html`<code>${known.command} ${known.usage}</code><span class="usage-words">${known.description}</span>` : nothing}
          </span>
          <button type="submit" class="send" aria-label="Send" title="Send" ?disabled=${text.trim() === ''} aria-busy=${busy ? 'true' : nothing}>
            ${busy ? html`<span class="spinner"></span>` : icons.send}
          </button>
        </div>
      </form>
    </div>`
  }

  return { focus, fill, render }
}

export type Composer = ReturnType<typeof createComposer>
