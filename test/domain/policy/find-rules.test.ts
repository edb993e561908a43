import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoundRule, firstMatchingRule, type PolicyRule, type Project, rulesOfKind } from '../../../src/domain/policy.ts'
import { rule as anyRule } from '../../given/people.ts'

const storefront: Project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const billing = { id: 'proj_2RBis9AK23gEc', name: 'Billing' }

const kinds = ['vm.rename', 'ip.move', 'key.create', 'key.rotate']

const rule = (name: string, more: Partial<PolicyRule> = {}): PolicyRule => ({ ...anyRule, name, ...more })

const in1 = { ids: ['proj_1oNqx62cx6bn0'], names: [] }
const [strict, lax, others] = [rule('strict'), rule('lax', { approve: undefined }), rule('others')]
const byKind = [rule('keys', { changes: ['key.create', 'key.rotate'] }), rule('moves')]
const byChannel = [rule('in ops', { channels: ['C1', 'C2'] }), rule('elsewhere', { channels: ['C3'] })]
const byId = [rule('storefront', { projects: in1 }), others]
const byName = [rule('storefront', { projects: { ids: [], names: ['Storefront'] } }), others]
const byBoth = [rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['proj_2RBis9AK23gEc'] } }), others]
const named = (name: string) => ({ project: { id: 'proj_3GGeutpe13Yip', name } })

/** Of a move in Storefront and C1, if the change is not another one. */
test.each<[which: string, rules: PolicyRule[], change: Partial<Parameters<typeof firstMatchingRule>[1]>, found: string]>([
  ['the first that matches, and no other', [strict, lax], {}, 'rule: strict'],
  ['the first that matches, and no other', [lax, strict], {}, 'rule: lax'],
  ['none, where there is none', [], {}, 'none'],
  ['none of another kind', [others], { kind: 'key.create' }, 'none'],
  ['one of the kind', byKind, {}, 'rule: moves'],
  ['one of the kind', byKind, { kind: 'key.rotate' }, 'rule: keys'],
  ['one of the channel', byChannel, { channelId: 'C2' }, 'rule: in ops'],
  ['one of the channel', byChannel, { channelId: 'C3' }, 'rule: elsewhere'],
  ['none of another channel', byChannel, { channelId: 'C4' }, 'none'],
  ['one of the project, by its id', byId, {}, 'rule: storefront'],
  ['one of the project, by its id', byId, { project: billing }, 'rule: others'],
  ['one of the project, by its name', byName, {}, 'rule: storefront'],
  ['one of the project, by its name', byName, { project: billing }, 'rule: others'],
  ['by the id alone where an id is given', byBoth, named('proj_1oNqx62cx6bn0'), 'rule: others'],
  ['by the name alone where a name is given', byBoth, { project: billing }, 'rule: others'],
  ['by the name alone where a name is given', byBoth, named('proj_2RBis9AK23gEc'), 'rule: storefront'],
  ['none for certain projects, if the change has none', byId, { project: 'none' }, 'rule: others'],
  ['none for a project that is called so', [rule('none', { projects: { ids: [], names: ['none'] } })], { project: 'none' }, 'none'],
  [
    'none after the first that depends on the project, if that is unknown',
    [byId[0] as PolicyRule, lax],
    { project: 'unknown' },
    'project-unknown: storefront',
  ],
  ['the same for rules by name, if the name is missing', byName, { project: { id: billing.id } }, 'project-unknown: storefront'],
  ['and not for rules by id', byId, { project: { id: billing.id } }, 'rule: others'],
])('the rule for a change is %s: %#', (_, rules, change, found) => {
  const answer = firstMatchingRule({ rules }, { kind: 'ip.move', channelId: 'C1', project: storefront, ...change })

  expect(answer.is === 'none' ? answer.is : `${answer.is}: ${answer.rule.name}`).toBe(found)
})

describe('an unknown project', () => {
  test('never selects a rule that no known project would select', () => {
    const ids = fc.subarray(['proj_1oNqx62cx6bn0', 'proj_3GGeutpe13Yip'])
    const names = fc.subarray(['Billing', 'proj_4DlSRqCLyIbq6'])
    const anyRule = fc.record({
      changes: fc.subarray(kinds, { minLength: 1 }),
      projects: fc.option(fc.record({ ids, names }), { nil: undefined }),
      channels: fc.option(fc.subarray(['C1', 'C2'], { minLength: 1 }), { nil: undefined }),
    })
    const anyChange = fc.record({ kind: fc.constantFrom(...kinds), channelId: fc.constantFrom('C1', 'C2', 'C3') })
    const knowable: Project[] = [
      storefront,
      billing,
      { id: 'proj_3GGeutpe13Yip', name: 'Three' },
      { id: 'proj_4DlSRqCLyIbq6', name: 'Four' },
      { id: 'proj_5PLWkxoLUhPcT', name: 'proj_3GGeutpe13Yip' },
      { id: 'proj_6Jx3mXrPv0aWb', name: 'proj_4DlSRqCLyIbq6' },
      'none',
    ]

    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 6 }), anyChange, (some, change) => {
        const policy = { rules: some.map((each, index) => rule(String(index), each)) }
        const unknown = firstMatchingRule(policy, { ...change, project: 'unknown' })
        const known = knowable.map((project) => firstMatchingRule(policy, { ...change, project }))

        if (unknown.is === 'rule') expect(known).toEqual(known.map(() => unknown))
        if (unknown.is === 'none') expect(known.every(({ is }) => is === 'none')).toBe(true)
        const namesOf = (answers: FoundRule[]) =>
          [...new Set(answers.flatMap((each) => (each.is === 'rule' ? [each.rule.name] : [])))].toSorted()
        const listed = (hasProject: boolean) => rulesOfKind(policy, { ...change, hasProject }).map(({ name }) => name)
        expect(listed(true)).toEqual(namesOf(known.slice(0, -1)))
        expect(listed(false)).toEqual(namesOf(known.slice(-1)))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the rules of a kind', () => {
  test('name only the projects that no earlier one decides', () => {
    const rules = [
      rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['Storefront'] } }),
      rule('both', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['Storefront', 'Billing'] } }),
      rule('again', { projects: { ids: [], names: ['Billing'] } }),
    ]
    const listed = rulesOfKind({ rules }, { kind: 'ip.move', channelId: 'C1', hasProject: true })

    expect(listed.map(({ name, projects }) => [name, projects])).toEqual([
      ['storefront', { ids: ['proj_1oNqx62cx6bn0'], names: ['Storefront'] }],
      ['both', { ids: [], names: ['Billing'] }],
    ])
  })
})
