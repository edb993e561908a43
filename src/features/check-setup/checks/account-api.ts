import { connectionProblemOf } from '../../../domain/errors/connection-problem.ts'
import { isUnavailable, type SetupFacts } from '../facts.ts'
import * as say from './account-api-words.ts'
import { type CheckResult, ok, subjects, unavailable, unknown, wrong } from './result.ts'

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
      return [ok(api, say.api.answers), wrong(key, say.key.rejected(reading.status), say.key.fixRejected(reading.status))]
    case 'lacks-feature':
      return [ok(api, say.api.answers), unknown(key, say.key.lacksFeature, say.key.fixLacksFeature)]
    case 'answers': {
      const { known, name, readOnly } = reading
      if (!known) return [ok(api, say.api.answers), unknown(key, say.key.unlisted)]
      if (readOnly === undefined) return [ok(api, say.api.answers), unknown(key, say.key.unknown(name))]
      return [ok(api, say.api.answers), readOnly ? wrong(key, say.key.readOnly(name), say.key.fixReadOnly) : ok(key, say.key.full(name))]
    }
  }
}
