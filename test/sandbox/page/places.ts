import { html, nothing, type TemplateResult } from 'lit-html'
import type { Channel, Workspace } from './api.ts'
import type { AppView } from './app-view.ts'
import { channelHead, type FrameProps, lostConnection } from './frame.ts'
import { icons } from './icons.ts'
import type { MessageListProps, Messages } from './messages.ts'
import type { Scrolling } from './scrolling.ts'

interface PlacesOptions {
  app: AppView
  messages: Messages
  scroll: Scrolling
  workspace: Workspace
  /** Writes a command into the composer. */
  fill(command: string): void
}

export interface PlaceProps {
  frame: FrameProps
  list: MessageListProps
  hint: TemplateResult | typeof nothing
  composer: TemplateResult
}

/** Returns the channel in which Lockkeeper takes commands from the beginning: the first one. */
export function mainChannel({ channels }: Workspace): Channel | undefined {
  return channels[0]
}

/** Renders the main part of the page: a channel, or the tabs of the app. */
export function createPlaces({ app, messages, scroll, workspace, fill }: PlacesOptions) {
  function channel({ frame, list, hint, composer }: PlaceProps): TemplateResult {
    const here = frame.desk.channel()
    return html`${channelHead(frame)} ${lostConnection(frame.desk)} ${hint} ${log(frame, list, `Messages in #${here.name}`, welcome(here))} ${composer}`
  }

  function appTab({ frame, list }: PlaceProps): TemplateResult {
    const head = html`${app.head()} ${lostConnection(frame.desk)}`
    if (frame.desk.tab() === 'home') return html`${head} ${app.home(list.names)}`
    return html`${head} ${log(frame, list, `Messages from ${frame.desk.channel().name}`, app.welcome())} ${app.readOnly()}`
  }

  function log({ desk }: FrameProps, list: MessageListProps, label: string, beginning: TemplateResult): TemplateResult {
    return html`<div class="messages" role="log" aria-label=${label} tabindex="0">
        <div class="messages-inside">${desk.messages() ? html`${beginning}${messages.list(list)}` : loading()}</div>
      </div>
      ${scroll.atEnd() ? nothing : toNewest()}`
  }

  function welcome({ id, name, topic }: Channel): TemplateResult {
    return html`<div class="welcome">
      <h2>${icons.hash}${name}</h2>
      <p>This is the very beginning of <strong>#${name}</strong>. ${topic ? html`It is about: ${topic}.` : nothing}</p>
      ${id === mainChannel(workspace)?.id ? tries() : nothing}
    </div>`
  }

  function tries(): TemplateResult {
    const commands = workspace.commands.slice(0, 4)
    return html`<p class="welcome-try">
      Try
      ${commands.map(({ command }) => html`<button type="button" class="hint-command" @click=${() => fill(command)}>${command}</button>`)}
    </p>`
  }

  function loading(): TemplateResult {
    return html`<div class="loading" role="status"><span class="spinner"></span>Loading messages…</div>`
  }

  function toNewest(): TemplateResult {
    return html`<div class="to-newest-row">
      <button type="button" class="to-newest" @click=${scroll.toEnd}>${icons.arrowDown}To the newest</button>
    </div>`
  }

  return {
    render: (props: PlaceProps): TemplateResult =>
      html`<main class="channel">${props.frame.desk.tab() ? appTab(props) : channel(props)}</main>`,
  }
}

export type Places = ReturnType<typeof createPlaces>
