import type { Posted } from '../../src/slack/web-api.ts'
import { noPolicy, notFrozen } from '../fake-app.ts'

const taken: Posted = { is: 'sent', ts: '1.1', channelId: 'C0OPS00001' }

/**
 * What the messages of requests need of an App. `onMessage` gets the name of each in the outbox, such as `card`. Slack takes them, unless there is
 * another outcome, and `direct` for direct messages.
 */
export function takingMessages(onMessage: (name: string) => void = () => {}, { posted = taken, direct = taken } = {}) {
  const named = ({ key }: { key?: string }) => onMessage(key?.split('/')[1] ?? 'direct message')
  const messenger = {
    post: async (place: { key?: string }): Promise<Posted> => {
      named(place)
      return place.key ? posted : direct
    },
    update: async (place: { key?: string }) => {
      named(place)
      return { is: 'sent' as const }
    },
  }
  return {
    ...notFrozen,
    slack: { messenger, identity: { addressOf: () => undefined, profileOf: () => undefined, linkTo: () => undefined } },
    directory: { names: async () => new Map<string, string>() },
    metrics: { reported: () => {} },
  }
}

/** What the words of messages say of the configuration. */
export const docsUrl = new URL('https://github.com/lockkeeper-org/lockkeeper/blob/main/docs')
export const wording = { policy: noPolicy, environment: undefined, infra: { writesPerMinute: 20 }, moveTimeoutMs: 900_000, docsUrl }
