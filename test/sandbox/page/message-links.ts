import type { Notification } from '../slack/notifications.ts'
import type { Workspace } from './api.ts'
import type { Desk } from './desk.ts'
import type { Navigation } from './navigation.ts'
import { placeOf, pointAt } from './permalinks.ts'

interface MessageLinksOptions {
  workspace: Workspace
  desk: Pick<Desk, 'me' | 'channel' | 'tab'>
  navigation: Navigation
  /** Sets an open dialog aside, because it covers the message. */
  uncover(): void
}

interface Target {
  channel: string
  ts: string
  threadTs?: string | undefined
}

/** Shows messages that something on the page leads to: a link, a notification or the hint. */
export function createMessageLinks({ workspace, desk, navigation, uncover }: MessageLinksOptions) {
  function show({ channel, ts, threadTs }: Target) {
    uncover()
    if (channel !== desk.channel().id || desk.tab())
      navigation.goTo(workspace.channels.some(({ id }) => id === channel) ? channel : 'messages')
    if (threadTs) navigation.openThread(threadTs)
    navigation.record()
    setTimeout(() => pointAt(threadTs ?? ts), 100)
  }

  return {
    show: ({ channel, ts }: Target) => show({ channel, ts }),
    openThread: ({ channel, ts }: Target) => show({ channel, ts, threadTs: ts }),

    openAs(as: string, shown: Notification) {
      if (as !== desk.me().id) navigation.actAs(as)
      show(shown)
    },

    /** Opens links to messages of this workspace on the page, because there is no Slack behind them. */
    follow() {
      document.addEventListener('click', (event) => {
        const target = event.target instanceof Element ? placeOf(event.target.closest('a')?.href ?? '') : undefined
        if (!target) return
        event.preventDefault()
        show(target)
      })
    },
  }
}
