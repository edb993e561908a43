import { describe, expect, test } from 'vitest'
import { decidingRule, type PolicyRule, type Project, toGroup } from '../../../src/domain/policy.ts'
import { rule as usual } from '../people-for-test.ts'

const bundles = new Map([['ip.evacuate', 'ip.move']])
const storefront: Project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const twice = { anyOf: toGroup(['SONCALL']), allOf: [], approvals: 2 }

const moves = (more: Partial<PolicyRule> = {}): PolicyRule => ({ ...usual, name: 'moves', ...more })
const evacuations = (more: Partial<PolicyRule> = {}): PolicyRule => ({ ...usual, name: 'failover', changes: ['ip.evacuate'], ...more })

function decided(rules: PolicyRule[], { kind = 'ip.evacuate', channelId = 'C1', project = storefront } = {}): string {
  const found = decidingRule({ rules, bundles }, { kind, channelId, project })
  return found.is === 'none' ? found.is : `${found.is}: ${found.rule.name}`
}

describe('the rule that decides an evacuation', () => {
  test('is that of moves if no rule names it', () => {
    expect(decided([moves()])).toBe('rule: moves')
  })

  test('is the one that names it, if it is not easier than that of moves', () => {
    expect(decided([moves(), evacuations({ approve: twice })])).toBe('rule: failover')
    expect(decided([evacuations()])).toBe('rule: failover')
  })

  test('is that of moves if the one that names it is easier', () => {
    expect(decided([evacuations(), moves({ approve: twice })])).toBe('rule: moves')
    expect(decided([evacuations({ approve: undefined }), moves()])).toBe('rule: moves')
  })

  test('is missing in a channel where nobody may request a move, although people may elsewhere', () => {
    expect(decided([evacuations(), moves({ channels: ['C2'] })])).toBe('none')
    expect(decided([evacuations({ request: toGroup([]), alerts: true }), moves({ channels: ['C2'] })])).toBe('rule: failover')
    expect(decided([evacuations({ request: toGroup([]), alerts: true }), moves({ channels: ['C2'], approve: twice })])).toBe('none')
  })

  test('is not known if that of moves depends on a project that is not known', () => {
    const narrow = moves({ name: 'narrow', projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } })

    expect(decided([evacuations(), narrow, moves()], { project: 'unknown' })).toBe('project-unknown: narrow')
    expect(decided([narrow, moves()], { project: 'unknown' })).toBe('project-unknown: narrow')
    expect(decided([evacuations(), moves()], { project: 'unknown' })).toBe('rule: failover')
  })

  test('is missing if neither is for its project', () => {
    expect(decided([evacuations({ projects: { ids: ['proj_2RBis9AK23gEc'], names: [] } }), moves()])).toBe('none')
  })

  test('has no say about moves', () => {
    expect(decided([evacuations(), moves({ approve: twice })], { kind: 'ip.move' })).toBe('rule: moves')
  })
})
