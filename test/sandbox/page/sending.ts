import type { Api, Message, Shortcut } from './api.ts'
import type { Desk } from './desk.ts'
import type { Scrolling } from './scrolling.ts'

interface SendingOptions {
  api: Api
  desk: Pick<Desk, 'me' | 'channel'>
  scrolls: { channel: Scrolling; thread: Scrolling }
  notify(sentence: string): void
}

/** Sends what a person types or picks from a menu. */
export function createSending({ api, desk, scrolls, notify }: SendingOptions) {
  async function runShortcut({ callbackId }: Shortcut, at: { channel: string; ts?: string }): Promise<void> {
    const answer = await api.shortcut(desk.me().id, callbackId, at)
    if (!answer.ok) notify(answer.error)
  }

  return {
    /** Returns whether it was sent. */
    async send(text: string, threadTs?: string): Promise<boolean> {
      scrolls[threadTs ? 'thread' : 'channel'].toEnd()
      const answer = await api.say(desk.me().id, desk.channel().id, text, threadTs)
      if (!answer.ok) notify(answer.error)
      return answer.ok
    },

    runGlobalShortcut: (shortcut: Shortcut) => runShortcut(shortcut, { channel: desk.channel().id }),
    runMessageShortcut: (shortcut: Shortcut, { channel, ts }: Message) => runShortcut(shortcut, { channel, ts }),
  }
}

export type Sending = ReturnType<typeof createSending>
