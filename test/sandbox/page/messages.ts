import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Channel, Message, Person } from './api.ts'
import { avatar } from './avatar.ts'
import type { Blocks } from './blocks.ts'
import { icons } from './icons.ts'
import { type Names, renderMrkdwn } from './inline.ts'
import type { MessageTools } from './message-tools.ts'
import { formatSlackDate } from './slack-date.ts'
import type { Surface } from './surface.ts'

export interface MessagesOptions {
  blocks: Blocks
  tools: MessageTools
  person(id: string): Person | undefined
}

export interface MessageListProps {
  channel: Channel
  messages: Message[]
  names: Names
  /** The messages between these stamps are new. "New" is drawn above the first of them. */
  unseen: { after: string; until: string }
  hasUnreadReplies(parentTs: string, lastTs: string): boolean
  /** Whether people can write here. */
  canReply: boolean
  openThread(ts: string): void
}

/** Messages of one author within this time are grouped under one name. */
const togetherMs = 5 * 60_000

export function createMessages({ blocks, tools, person }: MessagesOptions) {
  function list(props: MessageListProps): TemplateResult {
    const level = props.messages.filter(({ threadTs, ts, broadcast }) => threadTs === undefined || threadTs === ts || broadcast)
    const [after, until] = [Number(props.unseen.after), Number(props.unseen.until)]
    const firstNew = level.find(({ ts, user }) => Number(ts) > after && Number(ts) <= until && user !== props.names.me)
    return html`${repeat(
      level,
      ({ ts }) => ts,
      (message, index) => {
        const before = level[index - 1]
        const divided = !before || dayOf(before) !== dayOf(message)
        const isNew = message === firstNew
        return html`${divided ? dayDivider(message, isNew) : isNew ? newDivider() : nothing}
        ${one(message, { ...props, isLevel: true }, !divided && !isNew && belongsTo(before, message))}`
      },
    )}`
  }

  function one(message: Message, props: MessageListProps & { isLevel?: boolean }, follows: boolean): TemplateResult {
    const replies = props.messages.filter(({ threadTs, ts }) => threadTs === message.ts && ts !== message.ts)
    return html`<article
      class="message ${follows ? 'follows' : ''} ${message.ephemeral ? 'is-ephemeral' : ''}"
      aria-label=${`${message.userName}, ${clock(message)}`}
      data-ts=${message.ts}
    >
      ${tools(message, props.isLevel ? 'level' : 'thread', props.isLevel && props.canReply ? () => props.openThread(message.threadTs ?? message.ts) : undefined)}
      ${message.ephemeral ? html`<div class="only-you">${icons.eye}<span>Only visible to you</span></div>` : nothing}
      <div class="message-gutter">
        ${follows ? html`<time class="gutter-time" aria-hidden="true">${clock(message, true)}</time>` : avatar(message.isBot, message.userName, person(message.user))}
      </div>
      <div class="message-body">
        ${follows ? nothing : author(message)} ${message.broadcast ? alsoWhere(message, props) : nothing} ${content(message, props)}
        ${replies.length > 0 ? threadBar(message, replies, props) : nothing}
      </div>
    </article>`
  }

  function content(message: Message, { channel, names }: MessageListProps): TemplateResult {
    if (message.deleted) return html`<div class="text is-deleted">This message was deleted.</div>`
    const edited = message.edited ? html`<span class="edited">(edited)</span>` : nothing
    if (!message.blocks?.length) return html`<div class="text">${renderMrkdwn(message.text, names)} ${edited}</div>`
    const surface: Surface = {
      key: `${names.me}/${channel.id}/${message.ts}`,
      place: { channel: channel.id, ts: message.ts },
      names,
      seen: { message },
    }
    return html`<div class="blocks">${blocks.render(message.blocks, surface)}</div>
      ${edited}`
  }

  /** Names the other place of a reply that is shown in its thread and in the channel. */
  function alsoWhere(message: Message, { isLevel, openThread, channel }: MessageListProps & { isLevel?: boolean }): TemplateResult {
    if (!isLevel) return html`<span class="also-where">Also sent to #${channel.name}</span>`
    return html`<span class="also-where">
      replied to a <button type="button" @click=${() => openThread(message.threadTs ?? message.ts)}>thread</button>
    </span>`
  }

  function threadBar(parent: Message, replies: Message[], { openThread, hasUnreadReplies }: MessageListProps): TemplateResult {
    const authors = [...new Map(replies.map((reply) => [reply.user, reply])).values()].slice(0, 4)
    const last = replies.at(-1)
    const fresh = last !== undefined && hasUnreadReplies(parent.ts, last.ts)
    return html`<button type="button" class="thread-bar" @click=${() => openThread(parent.ts)}>
      ${authors.map((reply) => avatar(reply.isBot, reply.userName, person(reply.user)))}
      <span class="thread-count">${countOf(replies.length)}</span>
      ${fresh ? html`<span class="thread-new">New</span>` : nothing}
      <span class="thread-last"><span class="when-idle">Last reply ${last ? when(last) : ''}</span><span class="when-hovered">View thread</span></span>
      <span class="thread-arrow">${icons.forward}</span>
    </button>`
  }

  /** Renders a parent with its replies, for the panel. */
  function thread(parentTs: string, props: MessageListProps): TemplateResult | undefined {
    const parent = props.messages.find(({ ts }) => ts === parentTs)
    if (!parent) return undefined
    const replies = props.messages.filter(({ threadTs, ts }) => threadTs === parentTs && ts !== parentTs)
    // Without its replies a parent has no bar.
    const alone = { ...props, messages: [] }
    return html`${one(parent, alone, false)}
      <div class="reply-count"><span>${replies.length === 0 ? 'No replies yet' : countOf(replies.length)}</span></div>
      ${repeat(
        replies,
        ({ ts }) => ts,
        (reply, index) => one(reply, alone, belongsTo(replies[index - 1], reply)),
      )}`
  }

  return { list, thread }
}

function author(message: Message): TemplateResult {
  return html`<div class="message-head">
    <span class="message-author">${message.userName}</span>
    ${message.isBot ? html`<span class="app-badge">APP</span>` : nothing}
    <time class="message-time" datetime=${dateOf(message).toISOString()} title=${dateOf(message).toLocaleString()}>${clock(message)}</time>
  </div>`
}

function dayDivider(message: Message, isNew: boolean): TemplateResult {
  const day = formatSlackDate(Number(message.ts), '{day_divider_pretty}', new Date())
  return html`<div class="day-divider ${isNew ? 'is-new' : ''}" role="separator" aria-label=${isNew ? `${day}, new messages` : day}>
    <span class="day-name">${day.charAt(0).toUpperCase() + day.slice(1)}</span>${isNew ? html`<span class="new-word">New</span>` : nothing}
  </div>`
}

function newDivider(): TemplateResult {
  return html`<div class="new-divider" role="separator" aria-label="New messages"><span class="new-word">New</span></div>`
}

function countOf(replies: number): string {
  return replies === 1 ? '1 reply' : `${replies} replies`
}

function belongsTo(before: Message | undefined, message: Message): boolean {
  if (before?.user !== message.user || before.ephemeral || message.ephemeral || message.isBot) return false
  return dateOf(message).getTime() - dateOf(before).getTime() < togetherMs
}

function dateOf({ ts }: Message): Date {
  return new Date(Number(ts) * 1000)
}

function dayOf(message: Message): string {
  return dateOf(message).toDateString()
}

function when({ ts }: Message): string {
  return formatSlackDate(Number(ts), '{time} {date_short_pretty}', new Date())
}

/** Formats the time of day. `narrow`: without AM or PM. */
function clock({ ts }: Message, narrow = false): string {
  const time = formatSlackDate(Number(ts), '{time}', new Date())
  return narrow ? time.replace(/\s?[AP]M$/i, '') : time
}

export type Messages = ReturnType<typeof createMessages>
