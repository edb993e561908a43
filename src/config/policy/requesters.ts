import { z } from 'zod'
import { alertsRequester } from '../../domain/approval/origin.ts'
import { type Group, toGroup } from '../../domain/policy/policy.ts'
import { isPersonOrGroupId } from '../notation.ts'
import { formOf, list } from './values.ts'

/** Who may request under a rule. */
interface Requesters {
  /** Undefined: every full member. */
  people: Group | undefined
  alerts: boolean
}

const everyone = 'everyone'
const words = [alertsRequester, everyone]

const Everyone = z.literal(everyone).transform((): Requesters => ({ people: undefined, alerts: false }))

const These = list({
  expected: 'user ids (U…, W…), user group ids (S…) and alerts',
  fits: (text) => isPersonOrGroupId(text) || words.includes(text),
  whenEmpty: 'name who may request, or write everyone',
}).transform((items, context): Requesters => {
  const ids = items.filter((item) => !words.includes(item))
  const alerts = items.includes(alertsRequester)
  if (!items.includes(everyone)) return { people: toGroup(ids), alerts }
  if (ids.length > 0) context.addIssue({ code: 'custom', message: `has everyone, so ${ids.join(', ')} may request anyway: remove these` })
  return { people: undefined, alerts }
})

/** Parses `everyone`, or a list. In a list, `everyone` stands beside `alerts`, which are no people. */
export const RequestersOfRule = formOf<Requesters>(
  (input) => (Array.isArray(input) ? These : input === everyone ? Everyone : undefined),
  'everyone, or a list of user ids (U…, W…), user group ids (S…) and alerts',
)
