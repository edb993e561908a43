import type { Request } from '../../domain/request.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says that neither the channel nor the requester gets a message. `error`: Slack's code. */
export function undeliverable({ id, state }: Request, error: string): Mrkdwn {
  return mrkdwn`:warning: A message about request ${id} (${state}) reaches neither its channel nor the person who asked: ${error}.`
}

/** Says that a record in Redis was changed by something other than Lockkeeper. */
export function changedInRedis({ id }: Request): Mrkdwn {
  return mrkdwn`:rotating_light: What I keep of request ${id} is no longer what was asked for. Nothing is done with it. Find out who can write to my memory (Redis), and check the audit with npm run audit:verify.`
}
