import { describe, expect, test } from 'vitest'
import {
  approverRuling,
  isForLackOfAnswer,
  type Membership,
  noRule,
  type Person,
  type Place,
  readerRuling,
  requesterOfKindRuling,
} from '../../../src/domain/approval.ts'
import { type PolicyRule, toGroup } from '../../../src/domain/policy.ts'
import { groups, ops, person, rule } from '../../given/people.ts'

const move = { kind: 'ip.move', hasProject: true }
const newKey = { kind: 'key.create', hasProject: false }
const projects = { ids: ['proj_1oNqx62cx6bn0'], names: [] }

describe('who may request', () => {
  test('a denial names no channel whose rule is for projects, if changes of the kind belong to none', () => {
    const rules = [
      { ...rule, changes: ['key.create'], channels: ['C2'], projects },
      { ...rule, changes: ['key.create'], channels: ['C3'] },
    ]
    expect(noRule({ rules }, newKey)).toEqual({ code: 'no-rule', kind: 'key.create', channels: ['C3'] })
    expect(noRule({ rules: [{ ...rule, projects }] }, move)).toEqual({ code: 'no-rule', kind: 'ip.move', channels: [] })
  })

  test('everybody whom one of the rules of this kind allows, unless an earlier one keeps it from being reached', () => {
    const [forAda, forBen] = [
      { ...rule, request: toGroup(['UADA']) },
      { ...rule, request: toGroup(['UBEN']) },
    ]
    const may = (rules: PolicyRule[]) =>
      ['UADA', 'UBEN', 'UDOV'].filter(
        (id) => requesterOfKindRuling({ person: person(id), place: ops, membership: new Map() }, move, { rules }).allowed,
      )
    expect(may([{ ...forAda, projects }, forBen])).toEqual(['UADA', 'UBEN'])
    expect(may([forBen, forAda])).toEqual(['UBEN'])
  })
})

test.each<[answer: string, isMissing: boolean, who: Person, of?: { place?: Place; membership?: Membership }]>([
  ['who the person is', true, person('UCHI', 'unknown')],
  ['what the channel is', true, person('UCHI'), { place: { ...ops, standing: 'unknown' } }],
  ['who is in the group', true, person('UCHI'), { membership: groups({ SONCALL: 'unknown' }) }],
  ['who is in the group, which was not read', true, person('UCHI'), { membership: new Map() }],
  ['who is in the group, but the person is a guest', false, person('UCHI', 'guest'), { membership: new Map() }],
  ['nothing that is missing: a rule denies it', false, person('UDOV')],
])('a missing answer of Slack differs from a denial by a rule: %s', (_, isMissing, who, of) => {
  const ruling = approverRuling({ person: who, place: ops, requesterId: 'UADA', rule, membership: groups({ SONCALL: ['UCHI'] }), ...of })
  expect(!ruling.allowed && isForLackOfAnswer(ruling.denial)).toBe(isMissing)
})

test('while the workspace of the app is unknown, a person has to belong to any', () => {
  const place = { ...ops, teamId: undefined }
  expect([person('UEVE', 'member', 'T2'), { ...person('UEVE'), teamIds: [] }].map((who) => readerRuling(who, place).allowed)).toEqual([
    true,
    false,
  ])
})
