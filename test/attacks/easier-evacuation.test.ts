import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readPolicy } from '../../src/config/policy-file.ts'
import { breakGlassRuling, type Membership, type Person, type Place, requesterRuling, tallyApprovals } from '../../src/domain/approval.ts'
import { decidingRule, firstMatchingRule, type Policy, type PolicyRule, type Project } from '../../src/domain/policy.ts'
import { unmetTerms } from '../../src/domain/reason.ts'
import { evacuationKinds } from '../config/evacuation-kinds.ts'

// A person writes every policy that they can, so that an evacuation gets past a stricter rule for moves. What decides is compared by what
// people can do under it, and not by what the rules look like.

/** The number of policies. The long suite tries more. */
const tries = process.env.MODE === 'faults' ? 400 : 160

const channels = ['C0OPS00001', 'C0ALERTS01']
const people = ['U0ADA00001', 'U0BEN00001', 'U0CHI00001', 'U0EVE00001']
const groups = ['S0ONCALL01', 'S0SECURE01']
const projects: Project[] = ['proj_1', 'proj_2', 'proj_3'].flatMap((id) => ['Storefront', 'Billing'].map((name) => ({ id, name })))
const unclear: Project[] = ['unknown', { id: 'proj_1' }, { id: 'proj_3' }]

const ids = fc.subarray(['U0ADA00001', 'U0BEN00001', ...groups], { minLength: 1, maxLength: 3 })
const often = <T>(usual: T, other: fc.Arbitrary<T>) => fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, other)

/** What a rule can say, mostly what the others say, so that many policies differ in one thing. */
const anyRule = fc.record(
  {
    changes: fc.constantFrom<unknown>('ip.move', 'ip.evacuate', ['ip.move', 'ip.evacuate'], ['vm.rename', 'ip.evacuate']),
    projects: fc.subarray<unknown>(['proj_1', 'proj_2', { name: 'Storefront' }], { minLength: 1 }),
    channels: often(['C0OPS00001'], fc.subarray(channels, { minLength: 1 })),
    request: often<unknown>('everyone', fc.oneof(ids, fc.constantFrom(['alerts'], ['alerts', 'S0ONCALL01']))),
    approve: often<unknown>(
      { any_of: groups, approvals: 2 },
      fc.oneof(fc.constant('none'), ids, fc.record({ any_of: ids, all_of: ids, approvals: fc.integer({ min: 1, max: 3 }) })),
    ),
    self_approval: often('never', fc.constant('break-glass')),
    expires: often('30m', fc.constant('2h')),
    reason: often<unknown>('required', fc.constantFrom('optional', { pattern: 'OPS-\\d+' }, { pattern: 'CHG' })),
    confirm: often(true, fc.constant(false)),
  },
  { requiredKeys: ['approve', 'changes'] },
)
const anyRules = fc
  .array(fc.oneof({ weight: 4, arbitrary: anyRule }, { weight: 1, arbitrary: anyRule.map(({ changes: _, ...rule }) => rule) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((rules) => rules.map((rule, index) => ({ name: `rule ${index}`, ...rule })))

const anyMembership: fc.Arbitrary<Membership> = fc
  .tuple(...groups.map(() => fc.subarray(people)))
  .map((members) => new Map(groups.map((group, index) => [group, new Set(members[index])])))

const placeIn = (channelId: string): Place => ({ channelId, teamId: 'T1', standing: 'usual' })
const asPerson = (userId: string): Person => ({ userId, teamIds: ['T1'], standing: 'member' })
const alerts: Person = { userId: 'alerts', teamIds: [], standing: 'machine' }
const subsets = Array.from({ length: 2 ** people.length }, (_, set) => people.filter((_, index) => set & (1 << index)))

const reasons = ['', 'web-1 burns', 'OPS-1', 'CHG', 'CHG for OPS-1']
const suits = ({ reason: terms }: PolicyRule, reason: string) => unmetTerms(terms, reason).length === 0

/** Says how an evacuation under one rule is easier than a move under another. */
function waysPast(evacuation: PolicyRule, move: PolicyRule, place: Place, membership: Membership): string[] {
  const suffice = (rule: PolicyRule, by: string[]) => !rule.approve || tallyApprovals(rule.approve, by, membership).enough
  const alone = (rule: PolicyRule, userId: string) =>
    !rule.approve || breakGlassRuling({ person: asPerson(userId), place, requesterId: userId, rule, membership }).allowed
  const needsNobody = requesterRuling({ person: alerts, place, membership }, evacuation).allowed && !evacuation.approve
  return [
    ...subsets.filter((by) => suffice(evacuation, by) && !suffice(move, by)).map((by) => `[${by}] may approve it`),
    ...people.filter((userId) => alone(evacuation, userId) && !alone(move, userId)).map((userId) => `${userId} may approve it alone`),
    ...reasons.filter((reason) => suits(evacuation, reason) && !suits(move, reason)).map((reason) => `its reason can be “${reason}”`),
    ...(move.approve && move.confirm && !evacuation.confirm ? ['no click asks for a confirmation'] : []),
    ...(move.approve && evacuation.expiresMs > move.expiresMs ? ['it waits longer for an approval'] : []),
    ...(needsNobody ? ['a machine needs nobody'] : []),
  ]
}

/** Returns all ways past the rules for moves under a policy. */
function waysUnder(policy: Policy, find: typeof firstMatchingRule, of: Project[], membership: Membership): string[] {
  const places = [...channels, 'C0GENERAL1'].flatMap((channelId) => of.map((project) => ({ channelId, project })))
  return places.flatMap(({ channelId, project }) => {
    const evacuation = find(policy, { kind: 'ip.evacuate', channelId, project })
    if (evacuation.is !== 'rule') return []
    const moveIn = (channel: string) => find(policy, { kind: 'ip.move', channelId: channel, project })
    const here = moveIn(channelId)
    if (here.is === 'project-unknown') return ['the project of the move must be known']
    // Where nobody may request a move, the rules for moves in the other channels count.
    const moves = here.is === 'rule' ? [here] : channels.map(moveIn)
    return moves.flatMap((move) => (move.is === 'none' ? [] : waysPast(evacuation.rule, move.rule, placeIn(channelId), membership)))
  })
}

test('a person who writes the policy so that an evacuation gets past a stricter rule for moves finds no way, for any project, channel and people', () => {
  const found = { policies: 0, byTheFirstRule: 0 }

  fc.assert(
    fc.property(anyRules, anyMembership, (rules, membership) => {
      const result = readPolicy(stringify({ rules }), 'policy.yml', { ...evacuationKinds, expiresMs: 3_600_000 })
      if (!('policy' in result)) return
      found.policies += 1
      found.byTheFirstRule += waysUnder(result.policy, firstMatchingRule, projects, membership).length > 0 ? 1 : 0
      expect(waysUnder(result.policy, decidingRule, [...projects, ...unclear], membership)).toEqual([])
    }),
    { numRuns: tries },
  )

  // There was something to find.
  expect(found.policies).toBeGreaterThan(tries / 4)
  expect(found.byTheFirstRule).toBeGreaterThan(tries / 16)
})
