import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { api } from './api.ts'
import { renderBlocks } from './blocks.ts'
import { avatar, iconButton, icons } from './icons.ts'
import { channelHere, goTo, messagesIn, notify, page, tabHere } from './page.ts'
import type { Message, Shortcut } from './shapes.ts'
import { formatSlackDate } from './slack-date.ts'
import { renderMrkdwn } from './text.ts'

export function renderMessages(messages: Message[]): TemplateResult {
  const level = messages.filter(({ threadTs, ts, broadcast }) => threadTs === undefined || threadTs === ts || broadcast)
  return html`${repeat(
    level,
    ({ ts }) => ts,
    (message, index) => {
      const before = level[index - 1]
      const isNewDay = !before || dateOf(before).toDateString() !== dateOf(message).toDateString()
      return html`${isNewDay ? dayDivider(message) : nothing} ${renderMessage(message, messages)}`
    },
  )}`
}

/** Renders the open thread. Nothing if its message is not here. */
export function renderThread(): TemplateResult | undefined {
  const messages = messagesIn(channelHere().id)
  const parent = messages.find(({ ts }) => ts === page.thread)
  if (!parent) return undefined
  const replies = messages.filter(({ threadTs, ts }) => threadTs === parent.ts && ts !== parent.ts)
  return html`${renderMessage(parent)}
    <div class="reply-count small">${replies.length === 0 ? 'No replies yet' : countOf(replies)}</div>
    ${repeat(
      replies,
      ({ ts }) => ts,
      (reply) => renderMessage(reply),
    )}`
}

/** `around`: the messages of its channel. Inside of a thread there are none. */
function renderMessage(message: Message, around?: Message[]): TemplateResult {
  const { ts, userName, isBot, ephemeral, broadcast, threadTs } = message
  const replies = around?.filter((each) => each.threadTs === ts && each.ts !== ts) ?? []
  return html`<article class="message" aria-label=${`${userName}, ${timeOf(message)}`} data-ts=${ts}>
    ${ephemeral ? html`<div class="only-you small">${icons.eye} Only visible to you</div>` : nothing}
    ${avatarOf(message)}
    <div class="message-body">
      <div class="message-head">
        <strong>${userName}</strong>
        ${isBot ? html`<span class="small">APP</span>` : nothing}
        <time class="small" datetime=${dateOf(message).toISOString()} title=${dateOf(message).toLocaleString()}>${timeOf(message)}</time>
      </div>
      ${broadcast ? alsoWhere(threadTs ?? ts, around !== undefined) : nothing} ${content(message)}
      ${replies.length > 0 ? threadBar(ts, replies) : nothing}
    </div>
    ${ephemeral || message.deleted ? nothing : tools(message, around !== undefined)}
  </article>`
}

function content(message: Message): TemplateResult {
  if (message.deleted) return html`<em class="small">This message was deleted.</em>`
  const { channel, ts, text, blocks = [] } = message
  const surface = { key: `${page.me.id}/${channel}/${ts}`, place: { channel, ts }, seen: { message } }
  return html`${blocks.length > 0 ? renderBlocks(blocks, surface) : html`<div>${renderMrkdwn(text)}</div>`}
    ${message.edited ? html`<span class="small">(edited)</span>` : nothing}`
}

/** Names the other place of a reply that is shown in its thread and in the channel. */
function alsoWhere(thread: string, isInChannel: boolean): TemplateResult {
  if (!isInChannel) return html`<span class="small">Also sent to #${channelHere().name}</span>`
  return html`<span class="small">
    replied to a <button type="button" class="link-button" @click=${() => goTo({ thread })}>thread</button>
  </span>`
}

function threadBar(thread: string, replies: Message[]): TemplateResult {
  const last = Number(replies.at(-1)?.ts)
  const authors = new Map(replies.map((reply) => [reply.user, reply]))
  return html`<button type="button" class="thread-bar row" @click=${() => goTo({ thread })}>
    ${[...authors.values()].map(avatarOf)}
    <strong>${countOf(replies)}</strong>
    <span class="small">Last reply ${formatSlackDate(last, '{time} {date_short_pretty}', new Date())}</span>
  </button>`
}

/** Renders what is at the upper right corner of a message: *Reply in thread*, and the shortcuts of the app. */
function tools(message: Message, isInChannel: boolean): TemplateResult {
  const { ts, threadTs, channel } = message
  const reply = () => goTo({ thread: threadTs ?? ts })
  return html`<div class="message-tools">
    ${isInChannel && !tabHere() ? iconButton('Reply in thread', icons.reply, reply) : nothing}
    ${shortcutMenu(`more-${isInChannel}-${ts}`, 'More actions', icons.more, page.workspace.shortcuts.message, { channel, ts })}
  </div>`
}

export function shortcutMenu(
  id: string,
  label: string,
  icon: TemplateResult,
  shortcuts: Shortcut[],
  at: { channel: string; ts?: string },
): TemplateResult | typeof nothing {
  if (shortcuts.length === 0) return nothing
  const use = async ({ callbackId }: Shortcut) => {
    const answer = await api.shortcut(page.me.id, callbackId, at)
    if (!answer.ok) notify(answer.error)
  }
  return html`<button type="button" class="icon-button" aria-label=${label} title=${label} popovertarget=${id}>${icon}</button>
    <div class="popup" id=${id} popover aria-label=${label}>
      ${shortcuts.map(
        (shortcut) => html`<button type="button" class="option" popovertarget=${id} @click=${() => use(shortcut)}>
          ${shortcut.name}
          <div class="small">${page.workspace.bot.name}</div>
        </button>`,
      )}
    </div>`
}

function dayDivider({ ts }: Message): TemplateResult {
  const day = formatSlackDate(Number(ts), '{date_long_pretty}', new Date())
  return html`<div class="day-divider row" role="separator">${day.charAt(0).toUpperCase() + day.slice(1)}</div>`
}

function avatarOf({ user, userName, isBot }: Message): TemplateResult {
  const author = page.workspace.people.find(({ id }) => id === user)
  return avatar(userName, author, isBot)
}

const countOf = ({ length }: Message[]) => (length === 1 ? '1 reply' : `${length} replies`)

const dateOf = ({ ts }: Message) => new Date(Number(ts) * 1000)

const timeOf = ({ ts }: Message) => formatSlackDate(Number(ts), '{time}', new Date())
