import type { Directory } from './directory.ts'
import type { Payloads } from './payloads.ts'
import type { Delivery, HomeTab } from './slack.ts'
import type { State } from './state.ts'
import type { Transport } from './transport.ts'
import type { ViewStore } from './view-store.ts'

export interface EventOptions {
  state: State
  directory: Directory
  views: ViewStore
  payloads: Payloads
  transport: Transport
  homeTab: boolean
  delivered: (delivery: Delivery) => void
}

/** Delivers events to the bot. Slack repeats an event without an acknowledgement. No test needs that, so each event is sent once. */
export function createEvents(options: EventOptions) {
  const { state, directory, views, payloads, transport } = options

  return {
    /** A person opens the app. */
    async appHomeOpened(userId: string, tab: HomeTab): Promise<Delivery> {
      const person = directory.person(userId)
      if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
      if (tab === 'home' && !options.homeTab) throw new Error(`${directory.bot.name} has no Home tab.`)
      const home = views.homeOf(userId)
      const payload = payloads.appHomeOpened({
        userId,
        tab,
        eventId: state.id('Ev'),
        eventTs: state.stamp(),
        view: home && views.toSlack(home),
      })
      const sent = await transport.send('event', transport.eventRequest(payload), payload)
      const delivery: Delivery = { kind: 'event', payload, ...sent }
      options.delivered(delivery)
      return delivery
    },
  }
}
export type Events = ReturnType<typeof createEvents>
