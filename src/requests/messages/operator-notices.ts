import type { Request } from '../../domain/request.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says that Slack takes a message for neither the channel nor the requester. `error` is Slack's code. */
export function undeliverable({ id, state }: Request, error: string): Mrkdwn {
  return mrkdwn`:warning: A message about request ${id} (${state}) reaches neither its channel nor the person who asked: ${error}.`
}

/** Says that somebody else than Lockkeeper has changed a record in Redis. */
export function changedInRedis({ id }: Request): Mrkdwn {
  return mrkdwn`:rotating_light: What I keep of request ${id} is no longer what was asked for. Nothing is done with it. Find out who can write to my memory (Redis), and check the audit with npm run audit:verify.`
}
