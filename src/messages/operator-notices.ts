import { errors } from '../domain/codes.ts'
import type { AuthorityProblem, Request } from '../domain/request.ts'
import type { ListProblem } from '../redis/assignments.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn, profileLink } from '../slack/text.ts'
import { emergenciesIn, shortId } from './request-words.ts'

export function undeliverable(request: Request, error: string, command: string): Mrkdwn {
  const id = shortId(request)
  return mrkdwn`:warning: Couldn't deliver a message about request ${id} (${request.state}): ${error}. Tell ${mention(request.origin.userId)} what ${code(`${command} audit ${id}`)} shows.`
}

export function outdated({ id, state }: Request, error: string): Mrkdwn {
  return mrkdwn`:warning: Slack refused to update the message of request ${shortId({ id })} (${state}): ${error}. The message shows an older state, with its buttons. Its thread says so.`
}

export function unannounced(
  { id, origin, decision, approvals }: Request,
  error: string,
  command: string,
  profileOf: (userId: string) => string | undefined,
): Mrkdwn {
  const urgent = emergenciesIn({ approvals }).map(({ by }) => profileLink(by, profileOf(by), 'An approver'))
  const what = decision?.breakGlass
    ? mrkdwn`${profileLink(origin.userId, profileOf(origin.userId), 'The requester')} approved their own request ${shortId({ id })} alone`
    : mrkdwn`${joinMrkdwn(urgent, ' and ')} approved request ${shortId({ id })} past windows and freezes`
  return mrkdwn`:rotating_light: *Emergency approval* not posted in its channel: ${what}, and Slack refused the message (${error}). Check it now with ${code(`${command} audit ${shortId({ id })}`)}.`
}

export function lostRecord(id: string, command: string): Mrkdwn {
  return mrkdwn`:rotating_light: Redis lost request ${id}, so it isn't tracked. Check its resource on the account: ${code(`${command} audit ${id}`)}`
}

export function unreadableRecord(id: string, key: string): Mrkdwn {
  return mrkdwn`:rotating_light: The record of request ${id} in Redis is damaged. Lockkeeper can't read it, does nothing with it, and nobody can request the same change. Check on the account whether the change was made. To free its lock, delete the record: ${code(`redis-cli DEL '${key}'`)}.`
}

export function unpostedAlerts(channelId: string, error: string): Mrkdwn {
  return mrkdwn`:warning: Alerts can't be posted in ${channelMention(channelId)} (${error}), so they can't request anything there. Invite Lockkeeper to the channel, or name another one in the policy.`
}

const listProblems: Record<ListProblem, string> = {
  forged: "has entries that Lockkeeper didn't write",
  older: 'is older than one that was read before',
  missing: 'is gone',
}

export function assignmentsRefused(problem: ListProblem): Mrkdwn {
  return mrkdwn`:rotating_light: The list in Redis of which server each Elastic IP was last seen on ${listProblems[problem]}. Lockkeeper doesn't use it, and writes a new one. Until then, check evacuations of servers that are down by hand. Find out whether Redis lost data, or who can write to it.`
}

/** `host`: of the process that tells it. Others may have the key. `key`: of the record in Redis. */
export function freezeOfUnknownKey(host: string, key: string): Mrkdwn {
  return mrkdwn`:rotating_light: A process on ${code(host)} can't start changes: the record of freezes in Redis was signed with a key that it doesn't have. ${sameKey} If the old key is lost, run ${code(`redis-cli DEL '${key}'`)} instead, and then the unfreeze command.`
}

export const sameKey = mrkdwn`Give all processes the same ${code('STATE_KEY')}. If it was replaced, set the new and the old key, separated by a comma.`

export function damagedAudit(fault: string, areRemoved: boolean): Mrkdwn {
  const what = areRemoved ? 'They are removed.' : 'They are kept for now.'
  return mrkdwn`:rotating_light: Audit entries older than 400 days were damaged. ${fault} ${what} Run ${code('npm run audit:verify')}, and find out who can write to Redis.`
}

export function unsafeRedis(faults: string[]): Mrkdwn {
  return mrkdwn`:rotating_light: *Redis could lose requests and approvals.* ${faults.join(' ')}`
}

export function refusingRedis(faults: string[]): Mrkdwn {
  return mrkdwn`:rotating_light: *Redis stores nothing, so nothing can be requested, approved or tracked.* ${faults.join(' ')}`
}

export const safeRedis = mrkdwn`:white_check_mark: *Redis keeps requests safe again.*`

export function distrusted({ id }: Request, problem: AuthorityProblem, host: string): Mrkdwn {
  switch (problem.code) {
    case 'unknown-key':
      return mrkdwn`:warning: Request ${id} was signed with a key that a process on ${code(host)} doesn't have. That process won't act on it. ${sameKey}`
    case 'approval-needed-now':
    case 'rule-gone':
    case 'end-not-allowed':
    case 'confirmation-needed-now':
    case 'confirmation-lost':
    case 'approved-too-long-ago': {
      const { means, do: next } = errors[problem.code]
      return mrkdwn`:warning: Nothing was done for request ${id}. ${means} ${next}`
    }
    default:
      return mrkdwn`:rotating_light: The record of request ${id} no longer matches what was requested. Lockkeeper won't act on it. Find out who can write to Redis, and check the audit with ${code('npm run audit:verify')}.`
  }
}
