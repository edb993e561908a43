import { html, nothing, type TemplateResult } from 'lit-html'
import type { Workspace } from './api.ts'
import type { Composer } from './composer.ts'
import type { Confirm } from './confirm.ts'
import type { Desk } from './desk.ts'
import type { Drawer } from './drawer.ts'
import { type FrameProps, sideBar, topBar } from './frame.ts'
import type { Hint } from './hint.ts'
import { icons } from './icons.ts'
import type { Menus } from './menus.ts'
import type { MessageListProps, Messages } from './messages.ts'
import type { Modal } from './modal.ts'
import { namesOf } from './names.ts'
import type { Navigation } from './navigation.ts'
import { nextStep } from './next-step.ts'
import type { Notices } from './notices.ts'
import { mainChannel, type Places } from './places.ts'
import { requestsIn, waitingFor, waitingWords } from './requests.ts'
import type { Sending } from './sending.ts'
import { isBeside, openSideBySide, updateOtherSide } from './side-by-side.ts'
import { threadPanel } from './thread-panel.ts'
import type { Toasts } from './toasts.ts'

interface LayoutOptions {
  workspace: Workspace
  desk: Desk
  navigation: Navigation
  sending: Sending
  messages: Messages
  places: Places
  hint: Hint
  composer: Composer
  reply: Composer
  menus: Menus
  drawer: Drawer
  modal: Modal
  confirm: Confirm
  toasts: Toasts
  notices: Notices
}

/** Renders the whole page: bars, the current place, an open thread, and what is above them. */
export function createLayout(parts: LayoutOptions) {
  const { workspace, desk, navigation, sending, messages, places, hint, composer, reply, menus, drawer, modal, confirm, toasts, notices } =
    parts

  function barTools(): TemplateResult {
    const two = () => openSideBySide(desk.me().id, workspace, desk.tab() ?? desk.channel().id)
    return html`${drawer.toggle()}
    ${
      isBeside
        ? nothing
        : html`<button type="button" class="bar-button only-wide" @click=${two}>
            ${icons.columns}<span class="bar-words">Two people</span>
          </button>`
    }`
  }

  function threadOf(list: MessageListProps): TemplateResult | undefined {
    const ts = navigation.thread()
    if (ts === undefined) return undefined
    desk.readThread(ts)
    const content = messages.thread(ts, list)
    return (
      content &&
      threadPanel({
        where: `${desk.tab() ? '' : '#'}${list.channel.name}`,
        messages: content,
        reply: list.canReply ? reply.render({ label: 'Reply', placeholder: 'Reply…' }) : undefined,
        close: navigation.closeThread,
      })
    )
  }

  function channelComposer(): TemplateResult {
    const items = (workspace.shortcuts?.global ?? []).map((shortcut) => ({
      name: shortcut.name,
      description: workspace.bot.name,
      pick: () => void sending.runGlobalShortcut(shortcut),
    }))
    const tools = items.length > 0 ? menus.render({ id: 'shortcuts', label: 'Shortcuts', icon: icons.bolt, items }) : nothing
    return composer.render({ label: 'Message', placeholder: `Message #${desk.channel().name}, or type / for a command`, tools })
  }

  return function page(): TemplateResult {
    const requests = requestsIn(desk.inChannels())
    const frame: FrameProps = {
      workspace,
      desk,
      navigation,
      hint,
      waiting: (one) => ({ count: waitingFor(requests, one).length, words: waitingWords(requests, one) }),
      tools: barTools(),
    }
    const list: MessageListProps = {
      channel: desk.channel(),
      messages: desk.messages() ?? [],
      names: namesOf(workspace, desk.me().id),
      unseen: desk.unseen(),
      hasUnreadReplies: desk.hasUnreadReplies,
      canReply: desk.tab() === undefined,
      openThread: navigation.openThread,
    }
    updateOtherSide(desk.me(), frame.waiting(desk.me()))
    const thread = threadOf(list)
    const main = mainChannel(workspace)
    const step = nextStep(desk.me(), workspace.people, requests, main?.id === desk.channel().id ? undefined : main)
    return html`<div class="desk ${thread ? 'has-thread' : ''} ${drawer.isOpen() ? 'has-drawer' : ''}">
        ${topBar(frame)}
        <div class="side-column">${sideBar(frame)} ${toasts.render()}</div>
        ${places.render({ frame, list, hint: hint.render(desk.me(), step), composer: channelComposer() })} ${thread ?? nothing} ${drawer.render()}
      </div>
      ${modal.render(navigation.formsOf(desk.views()), list.names)} ${confirm.render()} ${notices.render()}`
  }
}
