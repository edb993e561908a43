import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { api } from './api.ts'
import { icons } from './icons.ts'
import { channelHere, notify, page, update } from './page.ts'
import type { Command } from './shapes.ts'

interface ComposerProps {
  label: string
  placeholder: string
  tools?: TemplateResult | typeof nothing
  threadTs?: string | undefined
}

/** A field for messages, and for the commands that `/` lists. `id` is unique in the document. Slack takes no commands in threads. */
function createComposer(id: string, takesCommands: boolean) {
  let text = ''
  /** Index of the active suggestion. -1: none, so that Enter sends the text. */
  let active = -1
  let isDismissed = false
  let isBusy = false

  const commands = () => (takesCommands ? (page.state?.commands ?? []) : [])
  const fitting = () => (isDismissed ? [] : fittingCommands(commands(), text))

  function write(next: string) {
    text = next
    isDismissed = false
    active = isHalfWord(commands(), text) ? 0 : -1
    update()
  }

  /** Writes a text that needs no suggestions, and moves the cursor to its end. */
  function fill(next: string) {
    write(next)
    isDismissed = true
    active = -1
    focus()
  }

  const complete = ({ command, usage }: Command) => fill(usage === '' ? command : `${command} `)

  function focus() {
    requestAnimationFrame(() => {
      const field = document.querySelector<HTMLTextAreaElement>(`#${id}`)
      field?.focus()
      field?.setSelectionRange(text.length, text.length)
    })
  }

  async function submit(threadTs?: string) {
    const sent = text.trim()
    if (sent === '') return
    isBusy = true
    write('')
    document.querySelector(threadTs ? '.thread-list' : '.messages')?.scrollTo({ top: 0 })
    const answer = await api.say(page.me.id, channelHere().id, sent, threadTs)
    isBusy = false
    if (!answer.ok) notify(answer.error)
    if (!answer.ok && text === '') fill(sent)
    update()
  }

  function onKeydown(event: KeyboardEvent, threadTs?: string) {
    const shown = fitting()
    const chosen = shown[active]
    if (shown.length > 0 && event.key === 'ArrowDown') active = (active + 1) % shown.length
    else if (shown.length > 0 && event.key === 'ArrowUp') active = active > 0 ? active - 1 : shown.length - 1
    else if (event.key === 'Tab' && !event.shiftKey && shown[0]) complete(chosen ?? shown[0])
    else if (event.key === 'Escape' && shown.length > 0) {
      isDismissed = true
      active = -1
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      if (chosen) complete(chosen)
      else void submit(threadTs)
    } else return
    event.preventDefault()
    update()
    requestAnimationFrame(() => document.querySelector('.suggestions .is-active')?.scrollIntoView({ block: 'nearest' }))
  }

  function list(shown: Command[]): TemplateResult {
    return html`<div class="suggestions popup" role="listbox" id=${`${id}-list`} aria-label="Commands">
      ${shown.map(
        (command, index) => html`<div
          class="option ${index === active ? 'is-active' : ''}"
          role="option"
          id=${`${id}-${index}`}
          aria-selected=${index === active}
          @mousedown=${(event: Event) => event.preventDefault()}
          @click=${() => complete(command)}
        >
          <strong>${command.command}</strong> ${command.usage}
          <div class="small">${command.description}</div>
        </div>`,
      )}
    </div>`
  }

  function render({ label, placeholder, tools = nothing, threadTs }: ComposerProps): TemplateResult {
    const shown = fitting()
    const known = shown.length === 0 ? currentCommand(commands(), text) : undefined
    const send = (event: Event) => {
      event.preventDefault()
      void submit(threadTs)
    }
    return html`<form class="composer" @submit=${send}>
      ${shown.length > 0 ? list(shown) : nothing}
      <textarea
        id=${id}
        rows="1"
        aria-label=${label}
        aria-autocomplete="list"
        aria-controls=${shown.length > 0 ? `${id}-list` : nothing}
        aria-activedescendant=${shown[active] ? `${id}-${active}` : nothing}
        aria-describedby=${`${id}-usage`}
        placeholder=${placeholder}
        autocomplete="off"
        spellcheck="false"
        .value=${live(text)}
        @input=${(event: InputEvent) => write((event.target as HTMLTextAreaElement).value)}
        @keydown=${(event: KeyboardEvent) => onKeydown(event, threadTs)}
      ></textarea>
      <div class="composer-bar row">
        ${tools}
        <span class="small" id=${`${id}-usage`}>
          ${known ? html`<strong>${known.command} ${known.usage}</strong> ${known.description}` : nothing}
        </span>
        <button type="submit" class="send" aria-label="Send" title="Send" ?disabled=${text.trim() === ''} aria-busy=${isBusy}>
          ${icons.send}
        </button>
      </div>
    </form>`
  }

  return { write, fill, focus, render }
}

export const composer = createComposer('composer', true)
export const replyComposer = createComposer('reply', false)

/** Returns the commands that the typed text can become. Empty if it is a whole command. */
function fittingCommands(commands: Command[], text: string): Command[] {
  const typed = text.toLowerCase()
  if (!typed.startsWith('/') || commands.some(({ command }) => command === typed.trim())) return []
  return commands.filter(({ command }) => command.startsWith(typed))
}

/** Returns the command whose words are complete. Its usage is shown while the rest is typed. */
function currentCommand(commands: Command[], text: string): Command | undefined {
  const fitting = commands.filter(({ command }) => text === command || text.startsWith(`${command} `))
  return fitting.sort((a, b) => b.command.length - a.command.length)[0]
}

/** Whether the text is a part of a command word (`/inf`), which Enter completes. Enter sends a whole one (`/infra`). */
function isHalfWord(commands: Command[], text: string): boolean {
  const words = commands.map(({ command }) => command.split(' ')[0])
  return text.startsWith('/') && !words.includes(text.trim().split(/\s/)[0])
}
