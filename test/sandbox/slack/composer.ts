import type { Directory } from './directory.ts'
import type { Interactions } from './interactions.ts'
import type { MessageStore, StoredMessage } from './message-store.ts'
import type { Delivery } from './slack.ts'
import type { Channel } from './workspace.ts'

export interface Composer {
  /** Sends the text: a message, `/invite`, or a command for the bot. Throws a sentence if Slack does not let this person write here. */
  send(userId: string, channelRef: string, text: string, threadTs?: string): Promise<{ message?: StoredMessage; delivery?: Delivery }>
}

/** What Enter does in the composer. */
export function createComposer(directory: Directory, messages: MessageStore, interactions: Interactions): Composer {
  function writable(userId: string, channelRef: string): Channel {
    const channel = directory.channel(channelRef)
    const person = directory.person(userId)
    if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
    if (!channel.members.includes(userId)) throw new Error(`${person.name} is not in #${channel.name}.`)
    if (channel.isArchived) throw new Error(`#${channel.name} is archived.`)
    return channel
  }

  function invite(userId: string, channel: Channel, handle: string): { message?: StoredMessage } {
    const invited = directory.findByHandle(handle)
    if (invited === undefined) {
      interactions.notify(userId, `Nobody here is called ${handle}.`)
      return {}
    }
    if (channel.members.includes(invited.id)) {
      interactions.notify(userId, `${invited.name} is already in this channel.`)
      return {}
    }
    directory.join(channel.id, invited.id)
    const text = `was added to #${channel.name} by ${directory.person(userId).name}.`
    return { message: messages.post({ channel: channel.id, user: invited.id, text, subtype: 'channel_join' }) }
  }

  return {
    async send(userId, channelRef, text, threadTs) {
      const channel = writable(userId, channelRef)
      const invitation = /^\/invite\s+(@?\S.*)$/.exec(text.trim())
      if (invitation) return invite(userId, channel, (invitation[1] ?? '').trim())
      if (!text.startsWith('/'))
        return { message: messages.post({ channel: channel.id, user: userId, text, ...(threadTs ? { threadTs } : {}) }) }
      // Slack refuses commands of apps in threads.
      if (threadTs) throw new Error('Slash commands cannot be used in threads.')
      return { delivery: await interactions.command(userId, channel.id, text) }
    },
  }
}
