import type { Acts, Place } from './acts.ts'
import type { Composer } from './composer.ts'
import type { Directory } from './directory.ts'
import type { Events } from './events.ts'
import type { Interactions } from './interactions.ts'
import type { MessageStore } from './message-store.ts'
import type { Notification } from './notifications.ts'
import type { ClickOptions, Delivery, Hands, Message, OpenView, ViewRef } from './slack.ts'
import type { StoredView, ViewStore } from './view-store.ts'

/** What people act with: their own hands in tests, and the web page. */
export interface ActingParts {
  directory: Directory
  messages: MessageStore
  views: ViewStore
  interactions: Interactions
  acts: Acts
  composer: Composer
  events: Events
}

export interface HandsOptions extends ActingParts {
  noticesOf: (userId: string) => string[]
  notificationsOf: (userId: string) => Notification[]
}

export function createHands(userId: string, options: HandsOptions): Hands {
  const { directory, messages, views, interactions, acts, composer, events } = options
  const person = directory.person(userId)

  function top(): StoredView {
    const view = views.stackOf(userId).at(-1)
    if (view === undefined) throw new Error(`${person.name} has no modal open.`)
    return view
  }

  function viewOf(ref: ViewRef | undefined): { view: StoredView } {
    if (ref === undefined) return { view: top() }
    return acts.viewFor(userId, typeof ref === 'string' ? ref : ref.id)
  }

  function modalOf(ref: ViewRef | undefined): StoredView {
    return ref === undefined ? top() : acts.modalFor(userId, typeof ref === 'string' ? ref : ref.id).view
  }

  function placeOf(target: Message | OpenView | string, options: ClickOptions = {}): Place {
    if (typeof target !== 'string') {
      if ('ts' in target) return acts.messageFor(userId, target.channel, target.ts, target)
      return target.view.type === 'home' ? acts.homeFor(userId, target) : viewOf(target)
    }
    return options.channel ? acts.messageFor(userId, options.channel, target) : viewOf(target)
  }

  return {
    person,

    async command(text, at) {
      const { delivery } = await composer.send(userId, at.channel, text)
      if (delivery === undefined) throw new Error(`"${text}" is not a command for the bot.`)
      return delivery
    },

    async say(text, at) {
      const { message } = await composer.send(userId, at.channel, text, at.threadTs)
      return message && messages.toMessage(message)
    },

    click: async (target, element, how) => acts.click(userId, placeOf(target, how), element, how),

    messageShortcut: async (target, callbackId, how = {}) => {
      const { message } = acts.messageFor(userId, target.channel, target.ts, target)
      return interactions.messageShortcut(userId, callbackId, message, how.message)
    },
    globalShortcut: (callbackId, how = {}) => interactions.globalShortcut(userId, callbackId, how.channel),

    openHome: (how) => events.appHomeOpened(userId, how?.tab ?? 'home'),
    home() {
      const home = views.homeOf(userId)
      return home && views.toOpenView(home)
    },

    openViews: () => views.stackOf(userId).map((view) => views.toOpenView(view)),
    topView: () => views.toOpenView(top()),

    async fill(view, values) {
      const deliveries: Delivery[] = []
      const { view: stored } = viewOf(view)
      for (const [name, input] of Object.entries(values)) {
        const delivery = await acts.fill(userId, { view: stored }, name, input)
        if (delivery) deliveries.push(delivery)
      }
      return deliveries
    },

    submit: async (view) => interactions.submit(userId, modalOf(view)),
    close: async (view) => views.close(modalOf(view)),

    async search(target, element, query) {
      const place = target !== undefined && typeof target !== 'string' && 'ts' in target ? placeOf(target) : viewOf(target)
      return acts.suggest(userId, place, acts.element(place, element), query)
    },

    sees: (channel) => messages.seen(directory.channel(channel).id, userId).map((message) => messages.toMessage(message)),
    notices: () => options.noticesOf(userId),
    notifications: () => options.notificationsOf(userId),
    redeliver: (delivery) => interactions.redeliver(delivery),
  }
}
