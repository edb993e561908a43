import { z } from 'zod'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { type ApproveTerms, type Bundles, type Policy, type PolicyRule, toGroup } from '../../domain/policy/policy.ts'
import { nearestWord } from '../../domain/text/nearest.ts'
import { durationWords, isChannelId, readDuration } from '../notation.ts'
import { routeSchema, toRoute } from './alerts.ts'
import { projectList, toProjects } from './projects.ts'
import { RequestersOfRule } from './requesters.ts'
import { formOf, ids, isMap, line, list, mustBe, value } from './values.ts'

const termFields = {
  any_of: ids('name someone, or remove any_of').optional(),
  all_of: ids('name someone, or remove all_of').optional(),
  approvals: value(
    (input) => (Number.isInteger(input) && Number(input) >= 1 && Number(input) <= 10 ? Number(input) : undefined),
    'a whole number from 1 to 10',
  ).prefault(1),
}

const Terms = z.strictObject(termFields).transform(({ any_of, all_of, approvals }): ApproveTerms | undefined => ({
  anyOf: toGroup(any_of ?? []),
  allOf: all_of ?? [],
  approvals,
}))

/** Reports terms that name no approver, along with their other errors. */
const TermsWithoutApprovers = z
  .strictObject({
    ...termFields,
    any_of: z.unknown().refine(() => false, 'is missing: name who may approve, here or in all_of or in both'),
  })
  .transform(() => undefined)

const AnyOfThese = ids('name who may approve, or write none').transform((named): ApproveTerms | undefined => ({
  anyOf: toGroup(named),
  allOf: [],
  approvals: 1,
}))

const Nobody = z.literal('none').transform((): ApproveTerms | undefined => undefined)

/** The kinds of change that rules can be for. */
export interface RuleKinds {
  kinds: ChangeKind[]
  bundles: Bundles
}

/** Parses a list of kinds; without one it is every kind that is no bundle of others. Accepts a single kind without brackets. */
function kindsAmong({ kinds, bundles }: RuleKinds) {
  const items = list({
    expected: `of ${kinds.join(', ')}`,
    fits: (text) => kinds.includes(text),
    whenEmpty: 'name a kind of change, or remove it for every kind',
    hint: (item) => {
      const meant = typeof item === 'string' ? nearestWord(kinds, item) : undefined
      return meant ? `: did you mean ${meant}?` : ''
    },
  })
  return z.preprocess((input) => (typeof input === 'string' ? [input] : input), items).prefault(kinds.filter((kind) => !bundles.has(kind)))
}

const termsFor = (input: object) => ('any_of' in input || 'all_of' in input ? Terms : TermsWithoutApprovers)

/** A rule as written in the policy file. The path of each issue leads to its line in the file. */
function ruleSchema(kinds: RuleKinds) {
  return z.strictObject(
    {
      name: line(60, 'a name that people will read'),
      changes: kindsAmong(kinds),
      projects: projectList.optional(),
      channels: list({
        expected: 'channel ids (C…, G…)',
        fits: isChannelId,
        whenEmpty: 'name a channel, or remove it for every channel',
      }).optional(),
      request: RequestersOfRule.optional(),
      approve: formOf<ApproveTerms | undefined>(
        (input) => (Array.isArray(input) ? AnyOfThese : isMap(input) ? termsFor(input) : input === 'none' ? Nobody : undefined),
        'none, a list such as [U0BEN00001, S0ONCALL01], or any_of and all_of with such lists',
      ),
      self_approval: value((input) => (input === 'never' || input === 'break-glass' ? input : undefined), 'never or break-glass').prefault(
        'never',
      ),
      reason: value((input) => (input === 'required' || input === 'optional' ? input : undefined), 'required or optional').prefault(
        'optional',
      ),
      confirm: value((input) => (typeof input === 'boolean' ? input : undefined), 'true or false').prefault(false),
      expires: value((input) => (typeof input === 'string' ? readDuration(input) : undefined), durationWords).optional(),
      mention: ids(undefined).transform(toGroup).optional(),
    },
    {
      error: ({ code, input }) => (code === 'invalid_type' ? mustBe('keys with values (name, approve and so on)', input) : undefined),
    },
  )
}
export type RuleSchema = ReturnType<typeof ruleSchema>
export type FileRule = z.infer<RuleSchema>

/** Creates the schemas of the whole file and of one rule for these kinds of change. */
export function policySchema(kinds: RuleKinds) {
  const rule = ruleSchema(kinds)
  const file = z.strictObject(
    {
      rules: z
        .array(rule, { error: ({ input }) => mustBe('a list of rules, each beginning with "- name:"', input) })
        .min(1, { error: 'must have at least one rule: without one, nothing can be requested' }),
      alerts: z
        .array(routeSchema, { error: ({ input }) => mustBe('a list of entries, each beginning with "- name:"', input) })
        .min(1, { error: 'must have at least one entry: add one, or remove it' })
        .optional(),
    },
    { error: ({ code, input }) => (code === 'invalid_type' ? mustBe('"rules:" with a list of rules below it', input) : undefined) },
  )

  /** Returns the known keys at a path of the file. */
  function keysAt(path: readonly PropertyKey[]): string[] {
    if (path.length === 0) return Object.keys(file.shape)
    if (path[0] === 'alerts') return Object.keys(routeSchema.shape)
    return Object.keys(path.length === 2 ? rule.shape : termFields)
  }

  return { file, rule, keysAt }
}
export type PolicySchema = ReturnType<typeof policySchema>

type PolicyFile = z.infer<PolicySchema['file']>

interface Surroundings {
  bundles: Bundles
  /** What a rule without `expires` gets, in milliseconds. */
  expiresMs: number
}

export function toPolicy({ rules, alerts = [] }: PolicyFile, { bundles, expiresMs }: Surroundings): Policy {
  return { rules: rules.map((rule) => toRule(rule, { expiresMs })), bundles, alerts: alerts.map(toRoute) }
}

function toRule(rule: FileRule, { expiresMs }: { expiresMs: number }): PolicyRule {
  return {
    name: rule.name,
    changes: rule.changes,
    projects: rule.projects && toProjects(rule.projects),
    channels: rule.channels,
    request: rule.request?.people,
    alerts: rule.request?.alerts ?? false,
    approve: rule.approve,
    breakGlass: rule.self_approval === 'break-glass',
    needsReason: rule.reason === 'required',
    confirm: rule.confirm,
    expiresMs: rule.expires ?? expiresMs,
    mention: rule.mention,
  }
}
