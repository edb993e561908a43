import { describe, expect, test } from 'vitest'
import { tallyApprovals } from '../../../src/domain/approval.ts'
import {
  approvalsNeeded,
  decidingRule,
  escalationOf,
  freezing,
  type PolicyRule,
  type Project,
  rulesNaming,
  toGroup,
  type Window,
} from '../../../src/domain/policy.ts'
import { rule as usual } from '../../given/people.ts'

const bundles = new Map([['ip.evacuate', 'ip.move']])
const storefront: Project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const from = (ids: string[], approvals = 1, allOf: string[] = []) => ({ anyOf: toGroup(ids), allOf, approvals })

const moves = (more: Partial<PolicyRule> = {}): PolicyRule => ({ ...usual, name: 'moves', approve: from(['SONCALL']), ...more })
const evacuations = (more: Partial<PolicyRule> = {}): PolicyRule => ({ ...moves(), name: 'failover', changes: ['ip.evacuate'], ...more })

function decide(rules: PolicyRule[], { kind = 'ip.evacuate', channelId = 'C1', project = storefront } = {}) {
  return decidingRule({ rules, bundles }, { kind, channelId, project })
}

function ruleOf(...of: Parameters<typeof decide>): PolicyRule {
  const found = decide(...of)
  if (found.is !== 'rule') throw new Error(`the rule is ${found.is}`)
  return found.rule
}

describe('an evacuation', () => {
  test('has the rule of moves if no rule names it, or the same rule does', () => {
    expect(ruleOf([moves()])).toEqual(moves())
    expect(ruleOf([moves({ changes: ['ip.move', 'ip.evacuate'] })]).with).toBeUndefined()
  })

  test('needs the approvals of both rules, and may be requested by those of its own', () => {
    const rule = ruleOf([
      evacuations({ request: toGroup(['SONCALL']), approve: from(['SONCALL', 'UADA'], 2) }),
      moves({ request: toGroup(['UBEN']), approve: from(['SLEADS'], 1, ['USEC']) }),
    ])

    expect(rule).toMatchObject({ name: 'failover', request: toGroup(['SONCALL']), with: [{ name: 'moves', approvals: 1 }] })
    expect(rule.approve).toEqual({ ...from(['SONCALL', 'UADA'], 2), also: [from(['SLEADS'], 1, ['USEC'])] })
  })

  test('with the same approvers needs the larger number', () => {
    expect(ruleOf([evacuations(), moves({ approve: from(['SONCALL'], 3) })]).approve).toEqual(from(['SONCALL'], 3))
  })

  test('escalates as both rules say, at the earlier time, and these people approve for their own rule alone', () => {
    const escalate = (afterMs: number, id: string) => ({ afterMs, to: toGroup([id]) })
    const own = { ...from(['SONCALL']), escalate: escalate(2, 'ULEA') }
    const ofMoves = { ...from(['SONCALL']), escalate: escalate(1, 'UNIA') }
    const { approve } = ruleOf([evacuations({ approve: own }), moves({ approve: ofMoves })])
    const enough = (...people: string[]) => approve && tallyApprovals(approve, people, new Map([['SONCALL', new Set(['UBEN'])]])).enough

    expect(approve && escalationOf(approve)).toEqual({ afterMs: 1, to: toGroup(['ULEA', 'UNIA']) })
    expect([enough('UBEN'), enough('ULEA'), enough('ULEA', 'UNIA')]).toEqual([true, false, true])
    expect(ruleOf([evacuations({ approve: own }), moves({ approve: own })]).approve).toEqual(own)
  })

  test('is as strict as the stricter of both in all else', () => {
    const strict = { reason: [{ rule: 'strict' }], confirm: true, expiresMs: 60_000, breakGlass: false, emergency: undefined }
    const lax = { reason: [], confirm: false, expiresMs: 120_000, breakGlass: true, emergency: true as const }

    expect(ruleOf([evacuations(lax), moves(strict)])).toMatchObject(strict)
    expect(ruleOf([evacuations(strict), moves(lax)])).toMatchObject(strict)
    expect(ruleOf([evacuations(lax), moves(lax)])).toMatchObject(lax)
    expect(ruleOf([evacuations(strict), moves({ reason: [{ rule: 'moves', pattern: 'OPS' }] })]).reason).toEqual([
      { rule: 'strict' },
      { rule: 'moves', pattern: 'OPS' },
    ])
  })

  test('whose own rule needs no approval needs that of the rule for moves', () => {
    const rule = ruleOf([evacuations({ approve: undefined }), moves({ approve: from(['SONCALL'], 2), breakGlass: true })])

    expect(rule).toMatchObject({ approve: from(['SONCALL'], 2), breakGlass: true })
    expect(ruleOf([evacuations({ approve: undefined }), moves({ approve: undefined })]).approve).toBeUndefined()
  })

  test('in a channel where nobody may request a move needs the approvals of all rules for moves elsewhere', () => {
    const rules = [
      evacuations(),
      moves({ channels: ['C2'], approve: from(['SLEADS']) }),
      moves({ name: 'c3', channels: ['C3'], approve: from(['USEC']) }),
    ]

    expect(ruleOf(rules).approve?.also).toEqual([from(['SLEADS']), from(['USEC'])])
    expect(ruleOf([evacuations()]).with).toBeUndefined()
  })

  test('has no known rule if that of moves depends on a project that is not known', () => {
    const narrow = moves({ name: 'narrow', projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } })

    expect(decide([evacuations(), narrow, moves()], { project: 'unknown' })).toMatchObject({ is: 'project-unknown' })
    expect(decide([evacuations(), moves()], { project: 'unknown' })).toMatchObject({ is: 'rule' })
    expect(decide([evacuations({ projects: { ids: ['proj_2RBis9AK23gEc'], names: [] } }), moves()])).toEqual({ is: 'none' })
  })

  test('has no say about moves', () => {
    expect(ruleOf([evacuations(), moves()], { kind: 'ip.move' })).toEqual(moves())
  })

  test('starts in the windows of both rules', () => {
    const window = (name: string): Window => ({ name, days: [1], from: '09:00', to: '17:00', zone: 'UTC' })
    const windowsUnder = (...names: string[]) =>
      ruleOf([evacuations({ windows: [window('office')] }), moves({ windows: names.map(window) })]).windows.map(({ name }) => name)

    expect([windowsUnder(), windowsUnder('night'), windowsUnder('office')]).toEqual([['office'], ['office', 'night'], ['office']])
  })
})

test('the rule for freezes decides about no change', () => {
  const rules = [moves({ changes: [freezing], approve: undefined })]

  for (const kind of ['ip.move', 'ip.evacuate', 'vm.rename']) expect(rulesNaming({ rules, bundles }, kind)).toEqual([])
})

test('an approval counts for each rule whose approvers contain the person, and both must be complete', () => {
  const terms = { ...from(['UADA', 'UBEN'], 2), also: [from(['UBEN', 'UCHI'], 1)] }
  const tally = (...people: string[]) => tallyApprovals(terms, people, new Map())

  expect(approvalsNeeded(terms)).toBe(2)
  expect(tally('UADA')).toEqual({ enough: false, missing: 1, counted: [1, 0] })
  expect(tally('UADA', 'UBEN')).toEqual({ enough: true, missing: 0, counted: [2, 1] })
  expect(tally('UADA', 'UCHI')).toEqual({ enough: false, missing: 1, counted: [1, 1] })
  expect(tally('UCHI', 'UEVE')).toEqual({ enough: false, missing: 2, counted: [0, 1] })
})
