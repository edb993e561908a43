import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoundRule, firstMatchingRule, type PolicyRule, type Project, rulesOfKind } from '../../../src/domain/policy.ts'
import { rule as anyRule } from '../../given/people.ts'

const storefront: Project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const billing: Project = { id: 'proj_2RBis9AK23gEc', name: 'Billing' }

const kinds = ['vm.rename', 'ip.move', 'key.create', 'key.rotate']

const rule = (name: string, more: Partial<PolicyRule> = {}): PolicyRule => ({ ...anyRule, name, ...more })

function found(rules: PolicyRule[], { kind = 'ip.move', channelId = 'C1', project = storefront as Project } = {}) {
  const answer = firstMatchingRule({ rules }, { kind: kind as PolicyRule['changes'][number], channelId, project })
  return answer.is === 'none' ? answer.is : `${answer.is}: ${answer.rule.name}`
}

describe('the rule for a change', () => {
  test('is the first that matches, and no other', () => {
    expect(found([rule('strict'), rule('lax', { approve: undefined })])).toBe('rule: strict')
    expect(found([rule('lax', { approve: undefined }), rule('strict')])).toBe('rule: lax')
  })

  test('is missing if no rule matches', () => {
    expect(found([])).toBe('none')
    expect(found([rule('moves')], { kind: 'key.create' })).toBe('none')
  })

  test('depends on the kind', () => {
    const rules = [rule('keys', { changes: ['key.create', 'key.rotate'] }), rule('moves')]
    expect(found(rules)).toBe('rule: moves')
    expect(found(rules, { kind: 'key.rotate' })).toBe('rule: keys')
  })

  test('depends on the channel', () => {
    const rules = [rule('in ops', { channels: ['C1', 'C2'] }), rule('elsewhere', { channels: ['C3'] })]
    expect(found(rules, { channelId: 'C2' })).toBe('rule: in ops')
    expect(found(rules, { channelId: 'C3' })).toBe('rule: elsewhere')
    expect(found(rules, { channelId: 'C4' })).toBe('none')
  })

  test.each([
    ['by its id', { ids: ['proj_1oNqx62cx6bn0'], names: [] }],
    ['by its name', { ids: [], names: ['Storefront'] }],
  ])('depends on the project: %s', (_, projects) => {
    const rules = [rule('storefront', { projects }), rule('others')]
    expect(found(rules)).toBe('rule: storefront')
    expect(found(rules, { project: billing })).toBe('rule: others')
  })

  test('goes by the id alone where an id is given, and by the name alone where a name is', () => {
    const rules = [rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['proj_2RBis9AK23gEc'] } }), rule('others')]

    expect(found(rules, { project: { id: 'proj_3GGeutpe13Yip', name: 'proj_1oNqx62cx6bn0' } })).toBe('rule: others')
    expect(found(rules, { project: billing })).toBe('rule: others')
    expect(found(rules, { project: { id: 'proj_3GGeutpe13Yip', name: 'proj_2RBis9AK23gEc' } })).toBe('rule: storefront')
  })

  test('of a change without a project is never a rule for certain projects', () => {
    expect(
      found([rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['none'] } }), rule('others')], { project: 'none' }),
    ).toBe('rule: others')
    expect(found([rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } })], { project: 'none' })).toBe('none')
  })
})

describe('an unknown project', () => {
  const rules = [rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } }), rule('lax', { approve: undefined })]

  test('ends the search at the first rule that depends on the project', () => {
    expect(found(rules, { project: 'unknown' })).toBe('project-unknown: storefront')
  })

  test('is one whose name is missing, to a rule that goes by names', () => {
    const byName = [rule('storefront', { projects: { ids: ['proj_1oNqx62cx6bn0'], names: ['Storefront'] } }), rule('lax')]

    expect(found(byName, { project: { id: 'proj_2RBis9AK23gEc' } })).toBe('project-unknown: storefront')
    expect(found(byName, { project: { id: 'proj_1oNqx62cx6bn0' } })).toBe('rule: storefront')
    expect(found(rules, { project: { id: 'proj_2RBis9AK23gEc' } })).toBe('rule: lax')
  })

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
