import { html, nothing, type TemplateResult } from 'lit-html'
import type { Message, Shortcut } from './api.ts'
import { icons } from './icons.ts'
import type { Menus } from './menus.ts'

interface MessageToolsOptions {
  menus: Menus
  /** The message shortcuts of the app. */
  shortcuts: Shortcut[]
  run(shortcut: Shortcut, message: Message): Promise<void>
}

/** Renders the tools of a message, at its upper right corner: *Reply in thread*, and *More actions* with the shortcuts of the app. */
export function createMessageTools({ menus, shortcuts, run }: MessageToolsOptions) {
  /** `reply`: absent inside of a thread. `where`: distinguishes the same message in the channel and in its thread. */
  return function tools(message: Message, where: string, reply: (() => void) | undefined): TemplateResult | typeof nothing {
    // Slack offers neither for ephemeral messages.
    if (message.ephemeral || message.deleted) return nothing
    const items = shortcuts.map((shortcut) => ({ name: shortcut.name, description: 'Lockkeeper', pick: () => void run(shortcut, message) }))
    return html`<div class="message-tools">
      ${
        reply
          ? html`<button type="button" class="icon-button" aria-label="Reply in thread" title="Reply in thread" @click=${reply}>${icons.reply}</button>`
          : nothing
      }
      ${
        items.length > 0
          ? menus.render({ id: `more-${where}-${message.ts.replace('.', '-')}`, label: 'More actions', icon: icons.more, items })
          : nothing
      }
    </div>`
  }
}

export type MessageTools = ReturnType<typeof createMessageTools>
