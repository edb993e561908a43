import type { Mrkdwn } from '../../slack/text/text.ts'
import type { AlertStates } from '../alert-states.ts'
import { nothingProposed } from '../messages/messages.ts'
import { noticeKey, type PostOnce } from '../messages/post-once.ts'
import { placeText } from '../notice-place.ts'
import type { RefusalReason } from '../outcome.ts'
import { nameIn } from '../payload/name-in.ts'
import { sourceOf } from '../payload/source-alert.ts'
import type { Slots } from '../slots.ts'
import type { FoundServer } from './find-servers.ts'
import type { ClaimedFiring, TakenFiring } from './firing.ts'

export interface RefuseFiringParts {
  states: AlertStates
  slots: Slots
  postOnce: PostOnce
  /** The slash command, for what people can do by hand. */
  command: string
  /** Receives a channel that takes no message, with Slack's error code. */
  onUnposted: (channelId: string, error: string) => Promise<void> | void
}

export interface Refused {
  words: Mrkdwn
  reason: RefusalReason
  server: FoundServer | undefined
  /** The account shows no Elastic IPs on the server. */
  isEmpty?: boolean
  /** Set once the alert has claimed the server. */
  serverId?: string
}

/** Creates the function that says in the channel why nothing was requested, once until the alert resolves. */
export function createRefuseFiring({ states, slots, postOnce, command, onUnposted }: RefuseFiringParts) {
  return async function refuseFiring(firing: ClaimedFiring, { words, reason, server, isEmpty, serverId }: Refused): Promise<TakenFiring> {
    const { alert, route, claim } = firing
    const { channelId } = route
    if (!(await slots.take('notices', channelId, alert.key))) return stormOf(firing, server)
    const notice = nothingProposed(sourceOf(alert), words, { command, server: server?.name, isEmpty })
    const posted = await postOnce({ channelId, key: noticeKey(alert) }, notice, { again: claim.again })
    if (posted.is === 'refused') {
      await onUnposted(channelId, posted.error)
      await states.free(claim, serverId)
      return { is: 'refused', reason: 'not-posted' }
    }
    await states.settle(claim, { outcome: 'explained', value: placeText({ channelId, ts: posted.ts }), serverId })
    return { is: 'refused', reason }
  }
}
export type RefuseFiring = ReturnType<typeof createRefuseFiring>

/** Leaves an alert to the thread of the storm, because its channel has had enough messages. */
export function stormOf({ alert, route, claim }: ClaimedFiring, server: FoundServer | undefined): TakenFiring {
  const name = server?.name ?? nameIn(route, alert.labels)
  return { is: 'storm', stormy: { alert, channelId: route.channelId, claim, server, name } }
}
