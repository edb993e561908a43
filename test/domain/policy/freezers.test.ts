import { expect, test } from 'vitest'
import { decidingRule, freezersOf, freezing, rulesNaming, toGroup, type Window } from '../../../src/domain/policy.ts'
import { rule, terms } from '../../given/people.ts'

const moves = { ...rule, approve: terms(['UBEN', 'SONCALL'], { allOf: ['SSECURE'] }) }
const names = { ...rule, name: 'names', changes: ['vm.rename'], approve: undefined }
const keys = { ...rule, name: 'keys', changes: ['key.create'], approve: terms(['UBEN', 'UCHI'], { also: [terms(['SLEADS'])] }) }
const freezes = { ...rule, name: 'freezes', changes: [freezing], approve: undefined }

test.each([
  ['all approvers of all rules', [moves, names, keys], toGroup(['UBEN', 'UCHI', 'SONCALL', 'SSECURE', 'SLEADS'])],
  ['nobody where nobody approves', [names], toGroup([])],
  ['those of the rule for it', [moves, { ...freezes, request: toGroup(['UEVE']) }], toGroup(['UEVE'])],
  ['every full member, if that rule says so', [moves, freezes], undefined],
])('may freeze: %s', (_, rules, group) => {
  expect(freezersOf({ rules })).toEqual(group)
})

test('the rule for freezes decides about no change', () => {
  const policy = { rules: [freezes], bundles: new Map([['ip.evacuate', 'ip.move']]) }

  for (const kind of ['ip.move', 'ip.evacuate', 'vm.rename']) expect(rulesNaming(policy, kind)).toEqual([])
})

test('an evacuation starts in the windows of both of its rules', () => {
  const window = (name: string): Window => ({ name, days: [1], from: '09:00', to: '17:00', zone: 'UTC' })
  const evacuations = { ...rule, name: 'failover', changes: ['ip.evacuate'], windows: [window('office')] }
  const windowsUnder = (windows: Window[]) => {
    const policy = { rules: [evacuations, { ...moves, windows }], bundles: new Map([['ip.evacuate', 'ip.move']]) }
    const found = decidingRule(policy, { kind: 'ip.evacuate', channelId: 'C1', project: 'none' })
    return found.is === 'rule' ? found.rule.windows.map(({ name }) => name) : found.is
  }

  expect(windowsUnder([])).toEqual(['office'])
  expect(windowsUnder([window('night')])).toEqual(['office', 'night'])
  expect(windowsUnder([window('office')])).toEqual(['office'])
})
