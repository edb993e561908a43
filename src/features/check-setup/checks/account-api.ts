import { connectionProblemOf } from '../../../domain/errors/connection-problem.ts'
import { code, mrkdwn } from '../../../slack/text/text.ts'
import { type AccountApiReading, isUnavailable, type SetupFacts } from '../facts.ts'
import * as say from './account-api-words.ts'
import { listOf } from './phrases.ts'
import { type CheckResult, ok, subjects, unavailable, unknown, wrong } from './result.ts'

type Answer = Extract<AccountApiReading, { is: 'answers' }>

/** Warns of ids in the policy that may be mistyped. Left out if a list cannot be read: the check of the account API says why. */
export function policy({ idsUnseen }: SetupFacts): CheckResult[] {
  if (isUnavailable(idsUnseen) || idsUnseen.length === 0) return []
  return [unknown(subjects.policy, say.policy.unseen(listOf(idsUnseen.map((id) => code(id)))), say.policy.fix)]
}

/** Counts BGP addresses. Left out where there are none, or where the list cannot be read: the check of the account API says why. */
export function elasticIps({ elasticIps: count }: SetupFacts): CheckResult[] {
  return isUnavailable(count) || count.bgp === 0 ? [] : [ok(subjects.elasticIps, say.elasticIps(count))]
}

export function accountApi({ accountApi: reading }: SetupFacts): CheckResult[] {
  const { api, key } = subjects
  if (isUnavailable(reading)) return [unknown(api, unavailable(reading.unavailable))]
  switch (reading.is) {
    case 'unreachable': {
      const problem = connectionProblemOf(reading.problem)
      return [
        wrong(api, say.api.unreachable(problem, reading.problem), say.api.fixUnreachable(problem)),
        unknown(key, say.key.notReachable),
      ]
    }
    case 'fails':
      return [wrong(api, say.api.fails(reading.status), say.api.fixFails(reading.status)), unknown(key, say.key.notAsked)]
    case 'rejects':
      return [ok(api, say.api.answers), wrong(key, say.key.rejected(reading), say.key.fixRejected(reading))]
    case 'limited':
      return [unknown(api, say.api.limited(reading)), unknown(key, say.key.limited)]
    case 'lacks-feature':
      return [ok(api, say.api.answers), unknown(key, say.key.lacksFeature, say.key.fixLacksFeature)]
    case 'answers':
      return [ok(api, say.api.answers), ownKey(reading.own), ...(reading.readKey ? [readKey(reading.readKey)] : [])]
  }
}

function ownKey(own: Answer['own']): CheckResult {
  const { key } = subjects
  if (own.is !== 'listed') return own.is === 'not-set' ? ok(key, say.key.notSet) : unknown(key, say.key.unlisted)
  const { name, readOnly } = own
  if (readOnly === undefined) return unknown(key, say.key.unknown(name))
  return readOnly ? wrong(key, say.key.readOnly(name), say.key.fixReadOnly) : ok(key, say.key.full(name))
}

function readKey({ problem, name }: NonNullable<Answer['readKey']>): CheckResult {
  return problem ? wrong(subjects.readKey, say.readKey.problems[problem], say.readKey.fix) : ok(subjects.readKey, say.readKey.fits(name))
}

/** Says what the account allows, and what was used in the last minute. */
export function limits({ limits: { perMinute, hasReadKey, used } }: SetupFacts): CheckResult {
  const allowed = say.limits.allowed(perMinute, hasReadKey)
  if (isUnavailable(used)) return unknown(subjects.limits, mrkdwn`${allowed} ${unavailable(used.unavailable)}`)
  return ok(subjects.limits, mrkdwn`${allowed} ${say.limits.used(used)}`)
}
