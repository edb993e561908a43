import { describe, expect, test } from 'vitest'
import { judgeApprover, judgeReader, judgeRequester, type Membership, type Person, type Rules } from '../../src/domain/approval.ts'

const rules: Rules = { approvers: { users: ['UBEN'], userGroups: ['SONCALL'] }, operators: undefined, channels: undefined, noApproval: [] }
const oncall: Membership = new Map([['SONCALL', new Set(['UCHI'])]])
const person = (userId: string, standing: Person['standing'] = 'member', teamId = 'T1'): Person => ({ userId, standing, teamId })
const request = { requesterId: 'UADA', teamId: 'T1' }
const ops = { channelId: 'C1', teamId: 'T1' }

describe('who may decide', () => {
  test.each([
    ['an approver by name', person('UBEN'), oncall, true],
    ['an approver by group', person('UCHI'), oncall, true],
    ['somebody else', person('UDOV'), oncall, false],
    ['an approver by name while groups cannot be read', person('UBEN'), new Map([['SONCALL', 'unknown']]) as Membership, true],
    ['a member of a group that cannot be read', person('UCHI'), new Map([['SONCALL', 'unknown']]) as Membership, false],
    ['a member of a group that was not looked up', person('UCHI'), new Map() as Membership, false],
    ['an approver who became a guest', person('UBEN', 'guest'), oncall, false],
    ['an approver who was deactivated', person('UBEN', 'deleted'), oncall, false],
    ['a bot', person('UBEN', 'bot'), oncall, false],
    ['a person of another workspace', person('UBEN', 'member', 'T2'), oncall, false],
    ['a person whose workspace Slack does not tell', { userId: 'UBEN', standing: 'member', teamId: undefined } as Person, oncall, false],
    ['a person shared from elsewhere', person('UBEN', 'stranger'), oncall, false],
    ['somebody of whom Slack does not tell', person('UBEN', 'unknown'), oncall, false],
  ])('%s', (_, who, membership, allowed) => {
    expect(judgeApprover(who, request, rules, membership).allowed).toBe(allowed)
  })

  test('the requester never, even as an approver', () => {
    const ruling = judgeApprover(person('UBEN'), { requesterId: 'UBEN', teamId: 'T1' }, rules, oncall)
    expect(ruling).toEqual({ allowed: false, why: 'You asked for this yourself, so another person has to decide it. You can withdraw it.' })
  })

  test('with nobody named, nobody', () => {
    const nobody = { ...rules, approvers: { users: [], userGroups: [] } }
    expect(judgeApprover(person('UBEN'), request, nobody, oncall).allowed).toBe(false)
  })

  test('the rule that allowed it is named', () => {
    expect(judgeApprover(person('UCHI'), request, rules, oncall)).toEqual({ allowed: true, rule: 'APPROVERS: SONCALL' })
  })

  test('a refusal names who can', () => {
    expect(judgeApprover(person('UDOV'), request, rules, oncall)).toEqual({
      allowed: false,
      why: 'You are not an approver of this. <@UBEN> or <!subteam^SONCALL> can decide it.',
    })
  })
})

describe('who may ask', () => {
  test('every full member, where no operators are named', () => {
    expect(judgeRequester(person('UDOV'), ops, rules, new Map()).allowed).toBe(true)
  })

  test.each(['guest', 'bot', 'deleted', 'stranger', 'unknown'] as const)('never: %s', (standing) => {
    expect(judgeRequester(person('UDOV', standing), ops, rules, new Map()).allowed).toBe(false)
    expect(judgeReader(person('UDOV', standing), 'T1').allowed).toBe(false)
  })

  test('only operators, where they are named', () => {
    const named = { ...rules, operators: { users: ['UADA'], userGroups: [] } }
    expect(judgeRequester(person('UADA'), ops, named, new Map()).allowed).toBe(true)
    expect(judgeRequester(person('UDOV'), ops, named, new Map()).allowed).toBe(false)
  })

  test('only in the channels that are named, and never in a direct message', () => {
    const named = { ...rules, channels: ['C2'] }
    expect(judgeRequester(person('UADA'), ops, named, new Map())).toEqual({
      allowed: false,
      why: 'Changes cannot be asked for in this channel. Ask in <#C2>.',
    })
    expect(judgeRequester(person('UADA'), { channelId: 'D1', teamId: 'T1' }, rules, new Map()).allowed).toBe(false)
  })
})
