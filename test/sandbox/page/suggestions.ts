import { html, nothing, type TemplateResult } from 'lit-html'
import type { Command } from './api.ts'

/** Returns the commands that the typed text can become. Empty if it is a whole command. */
export function fittingCommands(commands: Command[], text: string): Command[] {
  if (!text.startsWith('/') || text.includes('\n')) return []
  const typed = text.toLowerCase()
  const isWhole = commands.some(({ command }) => command === typed.trim())
  return isWhole ? [] : commands.filter(({ command }) => command.startsWith(typed))
}

/** Returns the command whose words are complete. Its usage is shown while the rest is typed. */
export function currentCommand(commands: Command[], text: string): Command | undefined {
  const fitting = commands.filter(({ command }) => text === command || text.startsWith(`${command} `))
  return fitting.sort((a, b) => b.command.length - a.command.length)[0]
}

/** Whether the text is a part of a command word (`/inf`), which Enter completes. Enter sends a whole one (`/infra`). */
export function isHalfWord(commands: Command[], text: string): boolean {
  const words = commands.map(({ command }) => command.split(' ')[0])
  return text.startsWith('/') && !words.includes(text.trim().split(/\s/)[0])
}

export function suggestionList(shown: Command[], active: number, onPick: (command: Command) => void): TemplateResult | typeof nothing {
  if (shown.length === 0) return nothing
  return html`<div class="suggestions">
    <div class="suggestions-title" aria-hidden="true">
      <span>Commands</span>
      <span class="keys"><kbd>↑</kbd><kbd>↓</kbd> to choose <kbd>Tab</kbd> to take <kbd>Esc</kbd> to close</span>
    </div>
    <div role="listbox" id="suggestions" aria-label="Commands">
      ${shown.map(
        (command, index) => html`<div
          class="suggestion ${index === active ? 'is-active' : ''}"
          role="option"
          id=${`suggestion-${index}`}
          aria-selected=${index === active}
          @mousedown=${(event: Event) => event.preventDefault()}
          @click=${() => onPick(command)}
        >
          <span class="suggestion-command">${command.command} <span class="suggestion-usage">${command.usage}</span></span>
          <span class="suggestion-description">${command.description}</span>
        </div>`,
      )}
    </div>
  </div>`
}
