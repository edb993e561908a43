import { labelOf } from '../../domain/account.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords } from '../../slack/text.ts'
import type { Difference, OutsideProblem } from './differences.ts'

const mostListed = 20

/** For the operators: what happened outside Lockkeeper since they were told last. */
export function changesWords(changes: Difference[]): Mrkdwn {
  const lines = changes.slice(0, mostListed).map((each) => mrkdwn`•  ${whatWords(each)}`)
  const more = changes.length - lines.length
  return joinMrkdwn([mrkdwn`:eyes: *Changed outside Lockkeeper*`, ...lines, ...(more > 0 ? [mrkdwn`•  ${more} more`] : [])], '\n')
}

function whatWords({ list, name, what, from, to, isGap, since, at }: Difference): Mrkdwn {
  const thing = list === 'apiKeys' ? mrkdwn`API key ${nameWords(labelOf(name))}` : mrkdwn`Elastic IP ${nameWords(name)}`
  const happened =
    what === 'moved' && from && to
      ? mrkdwn`moved from ${nameWords(from.name)} to ${nameWords(to.name)}`
      : mrkdwn`was ${what === 'created' ? 'created' : 'removed'}`
  const gap = isGap
    ? mrkdwn` Lockkeeper didn't check between ${dateTime(since)} and ${dateTime(at)}, so it happened in that time.`
    : mrkdwn``
  return mrkdwn`${thing} ${happened} outside Lockkeeper.${gap}`
}

export function distrustedOutside(problem: OutsideProblem, key: string): Mrkdwn {
  if (problem === 'forged')
    return mrkdwn`:rotating_light: The record in Redis for reporting changes outside Lockkeeper isn't one that Lockkeeper wrote. Lockkeeper replaced it, so changes since the last report aren't told. Find out who can write to Redis.`
  return mrkdwn`:warning: The record in Redis for reporting changes outside Lockkeeper was signed with a key that it doesn't have, or is of another version. Changes outside Lockkeeper aren't reported. Set ${code('STATE_KEY')} to the new and the old key, separated by a comma. To start over, delete it: ${code(`redis-cli DEL '${key}'`)}.`
}
