import type { AuthorityProblem } from '../../domain/authority-problem.ts'
import type { Request } from '../../domain/request.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says that neither the channel nor the requester gets a message. `error`: Slack's code. */
export function undeliverable({ id, state }: Request, error: string): Mrkdwn {
  return mrkdwn`:warning: A message about request ${id} (${state}) reaches neither its channel nor the person who asked: ${error}.`
}

/** Says that a request cannot be trusted, and what to do. */
export function distrusted({ id }: Request, { code }: AuthorityProblem): Mrkdwn {
  switch (code) {
    case 'unknown-key':
      return mrkdwn`:warning: Request ${id} was signed with a key that Lockkeeper doesn't have. Nothing is done with it. Set STATE_KEY to the new and the old key, separated by a comma, or have it requested again.`
    case 'approval-needed-now':
    case 'rule-gone':
      return mrkdwn`:warning: The policy no longer allows request ${id} as it was approved. Nothing was done with it. It has to be requested again.`
    case 'approved-too-long-ago':
      return mrkdwn`:warning: Request ${id} was approved too long ago. Nothing was done with it. It has to be requested again.`
    default:
      return mrkdwn`:rotating_light: What I keep of request ${id} is no longer what was asked for. Nothing is done with it. Find out who can write to my memory (Redis), and check the audit with npm run audit:verify.`
  }
}
