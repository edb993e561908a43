import { describe, expect, test } from 'vitest'
import { toGroup } from '../../src/domain/policy.ts'
import { type Request, requestStates } from '../../src/domain/request.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { owner, phrase } from '../../src/domain/text.ts'
import { type ReportView, report as reportInEachLayout } from '../../src/messages/reports.ts'
import type { ReportName } from '../../src/record/steps.ts'
import { withoutTable } from '../../src/slack/interactions.ts'
import { profileLink } from '../../src/slack/text.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { cardViewFor } from './card-view-for-test.ts'
import { expectDocument } from './documents.ts'

function view(request: Partial<Request> = {}, more: Partial<ReportView> = {}): ReportView {
  return {
    ...cardViewFor({ request: requestFor(request) }),
    showActor: (userId, words = '@Ben') => profileLink(userId, `https://nimbus.slack.com/team/${userId}`, words),
    lateAfter: '15 min',
    now: requestedAt + 120 * minutes,
    ...more,
  }
}

function report(of: ReportView, name: ReportName): string | undefined {
  const message = reportInEachLayout(of, name)
  return message && withoutTable(message).text
}

const at = (minute: number) => requestedAt + minute * minutes
const approvedBy = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: at(1) })
const threeOf = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 3 } })
const several = { approvals: [approvedBy('U0BEN00001'), approvedBy('U0CHI00001')] }
const one = { approvals: [approvedBy('U0BEN00001')], missing: 1 }
const escalate = { afterMs: 30 * minutes, to: toGroup(['S0LEADS00', 'U0CHI00001']) }
const escalateToThem = { afterMs: 30 * minutes, to: toGroup(['U0BEN00001', 'U0ADA00001']) }
const escalating = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 1, escalate } })
const two = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2, escalate } })
const twoOfThem = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2, escalate: escalateToThem } })
const key = { handover: { label: 'Create key' } }
const office = { for: 'window', name: 'office', until: at(120) } as const
const keyApproved = { state: 'approved' as const, approvals: [approvedBy('U0BEN00001')], decidedAt: requestedAt, expiresAt: at(240) }
const emergency = { by: 'U0ADA00001', rule: 'APPROVERS', via: 'S0ONCALL01', reason: 'web-1 burns <!channel>', breakGlass: true }
const sent = { sentAt: at(10), endedAt: at(10) + 43_000 }
const why = (words: string, next?: string): Partial<ReportView> => ({ ending: { why: words, next } })

const sentAlone = { sentAt: at(10), acceptedAt: at(10), slowAt: at(12), lateAt: at(16) }
const targetAlert = { why: 'An alert about the target web-2 says something.' }
const alert = { name: 'NodeDown', startsAt: requestedAt - 120_000 }

test('every report', async () => {
  const rotate = phrase`Rotate API key ${'ci-deploy'}${owner('U0CHI00001')}`
  const reports: [situation: string, ReportName, ReportView][] = [
    ['Half of the time has passed', 'reminder-half', view()],
    ['An alert requested it', 'reminder-half', view({ alert, reason: 'web-1 is down' })],
    ['Nine tenths of the time have passed', 'reminder-last', view({}, { now: at(216) })],
    ['Two of three have approved', 'reminder-half', view({ ...several, missing: 1 }, { rule: threeOf })],
    ['One of the two may not approve any more', 'reminder-half', view({ ...several, missing: 2 }, { rule: threeOf })],
    ['The rule mentions others', 'reminder-half', view({}, { rule: ruleFor({ mention: toGroup(['U0EVE00001', 'S0PAGED001']) }) })],
    ['The rule mentions nobody', 'reminder-half', view({}, { rule: ruleFor({ mention: toGroup([]) }) })],
    ['An escalation', 'escalation', view({}, { rule: escalating, now: at(30) })],
    ['An escalation after one of two approvals', 'escalation', view(one, { rule: two, now: at(90) })],
    ['An escalation to people who have approved or requested it', 'escalation', view(one, { rule: twoOfThem, now: at(100) })],
    [
      'A key is for another person, whose phone must not ring',
      'reminder-half',
      view({}, { description: { ...description, title: rotate } }),
    ],
    ['A key is approved', 'approved', view(keyApproved, { ...key, now: requestedAt })],
    [
      'A key is approved in a freeze',
      'approved',
      view(keyApproved, { ...key, now: requestedAt, held: { for: 'freeze', name: ownFreezeName } }),
    ],
    [
      'A key is approved, and ends before its window opens',
      'approved',
      view(keyApproved, { handover: { label: 'Rotate key', tooLateAt: at(60) }, now: requestedAt, held: office }),
    ],
    [
      'A key is not called for in vain',
      'handover-half',
      view(keyApproved, { handover: { label: 'Rotate key', tooLateAt: at(60) }, now: at(30), held: office }),
    ],
    ['Two approved a key', 'approved', view({ ...keyApproved, ...several }, { ...key, now: requestedAt })],
    ['A key was not created yet', 'handover-half', view(keyApproved, { ...key, now: at(120) })],
    ['A key will soon not be created', 'handover-last', view(keyApproved, { ...key, now: at(216) })],
    ['An emergency approval', 'break-glass', view({ state: 'starting', decision: emergency })],
    ['An emergency approval of what is sent at once', 'break-glass', view({ state: 'approved', decision: emergency })],
    ['An emergency approval for a key', 'break-glass', view({ state: 'approved', decision: emergency }, key)],
    ['An emergency approval of what starts later', 'break-glass', view({ state: 'approved', decision: emergency, start: at(600) })],
    [
      'An emergency approval that passes a freeze',
      'break-glass',
      view({ state: 'starting', decision: { ...emergency, passed: [{ by: 'freeze', name: 'Black Friday', until: 0 }] } }),
    ],
    [
      'An emergency approval, when no rule covers it any more',
      'break-glass',
      view({ state: 'done', decision: emergency }, { rule: undefined }),
    ],
    ['It takes longer than usual', 'late', view({ state: 'tracking', sentAt: requestedAt }, { now: at(16) })],
    ['Slack refuses to update the request message', 'outdated', view({ state: 'tracking', sentAt: requestedAt })],
    ['The alert resolved before it starts', 'resolved', view({ state: 'approved' })],
    ['The alert resolved while it is under way', 'resolved', view({ state: 'tracking' })],
    ['The alert resolved after it was done', 'resolved', view({ state: 'done' }, { reverseLabel: 'Move back' })],
    ['The alert resolved after it ended', 'resolved', view({ state: 'not-started' })],
    ['It fires again before it starts', 'resolved', view({ state: 'approved', alertResolved: false })],
    ['It fires again while it is under way', 'resolved', view({ state: 'tracking', alertResolved: false })],
    ['It fires again, and it has ended since', 'resolved', view({ state: 'done', alertResolved: false }, { reverseLabel: 'Move back' })],
    ['An alert fires about the target of what starts later', 'target-alerted', view({ state: 'approved' }, { targetAlert })],
    ['An alert fires about the target of what is under way', 'target-alerted', view({ state: 'tracking' }, { targetAlert })],
    ['It has resolved', 'target-alerted', view({ state: 'tracking' }, { targetAlert: { ...targetAlert, isNote: true } })],
    ['Late, and it moves an address', 'late', view({ state: 'tracking', ...sentAlone }, { target: 'web-2' })],
    ['Done', 'ended', view({ ...sent, state: 'done' })],
    ['Failed before it was accepted', 'ended', view({ ...sent, state: 'failed' }, why('web-2 was deleted.'))],
    ['Failed after it was accepted', 'ended', view({ ...sent, state: 'failed', acceptedAt: at(10) }, why('web-2 was deleted.'))],
    [
      'Failed, and would fail again',
      'ended',
      view({ ...sent, state: 'failed' }, why('web-2 is outdated.', "Contact the provider's support.")),
    ],
    ['Not started', 'ended', view({ ...sent, state: 'not-started' }, why('The address is still on web-1.'))],
    ['Superseded', 'ended', view({ ...sent, state: 'superseded' }, why('The address is on web-3.'))],
    ['The account changed', 'ended', view({ ...sent, state: 'voided' }, why('203.0.113.10 is on web-3 now.'))],
    ['Rejected', 'ended', view({ ...sent, state: 'rejected', decision: { ...approvedBy('U0BEN00001'), reason: 'Not during the sale.' } })],
    ['Expired', 'ended', view({ ...sent, state: 'expired' })],
    [
      'Another person stopped the tracking',
      'stopped',
      view({ state: 'untracked', sentAt: at(10), endedAt: at(15), stoppedBy: 'U0CHI00001' }),
    ],
    [
      'Its requester stopped the tracking',
      'stopped',
      view({ state: 'untracked', sentAt: at(10), endedAt: at(15), stoppedBy: 'U0ADA00001' }),
    ],
  ]

  await expectDocument(
    'reports.md',
    'The reports in the thread of a request',
    reports.map(([situation, name, of]) => [situation, report(of, name) ?? 'none']),
  )
})

test('a reason in a report links what its rule links', () => {
  const decision = { ...approvedBy('U0BEN00001'), reason: 'Not before OPS-2.' }
  const reason = [{ rule: 'production', pattern: 'OPS-\\d+', link: 'https://tickets.example.com/browse/$0' }]
  const rejected = reportInEachLayout(view({ ...sent, state: 'rejected', decision }, { rule: ruleFor({ reason }) }), 'ended')

  expect(JSON.stringify(rejected)).toContain('{"type":"link","url":"https://tickets.example.com/browse/OPS-2","text":"OPS-2"}')
})

describe('a call', () => {
  test('of approvers leaves out people who need not act: the requester, and those who have approved', () => {
    const approve = { anyOf: toGroup(['U0ADA00001', 'U0BEN00001', 'U0CHI00001']), allOf: [], approvals: 2 }
    const waiting = view({ approvals: [approvedBy('U0BEN00001')], missing: 1 }, { rule: ruleFor({ approve }) })

    expect(report(waiting, 'reminder-half')?.match(/<@\w+>/g)).toEqual(['<@U0CHI00001>'])
    const again = view({ approvals: [approvedBy('U0BEN00001')] }, { rule: ruleFor({ approve, confirmBy: 'passkey' }) })
    expect(report(again, 'reminder-half')).toMatch(/<@U0BEN00001> and <@U0CHI00001> .* needs approval \(0 of 2\), /)
    const alone = view({ state: 'starting', decision: emergency }, { rule: ruleFor({ approve }) })
    expect(report(alone, 'break-glass')?.match(/<@\w+>/g)).toEqual(['<@U0BEN00001>', '<@U0CHI00001>'])
  })

  test('is sent only in the state that it is about', () => {
    const sentIn = (name: ReportName, more: Partial<Request> = {}) =>
      requestStates.filter((state) => report(view({ ...more, state }, key), name) !== undefined)

    for (const name of ['reminder-half', 'reminder-last', 'escalation'] as const) expect(sentIn(name)).toEqual(['waiting'])
    for (const name of ['approved', 'handover-half', 'handover-last'] as const) {
      expect(sentIn(name, keyApproved)).toEqual(['approved'])
      expect(report(view(keyApproved), name)).toBeUndefined()
    }
    expect(sentIn('stopped', { sentAt: at(10), stoppedBy: 'U0CHI00001' })).toEqual(['untracked'])
    expect(report(view({}, { rule: undefined }), 'reminder-half')).toBeUndefined()
  })

  test('of the first approvers leaves out those who are only escalated to', () => {
    expect(report(view({}, { rule: escalating }), 'reminder-half')?.match(/<[@!][^>]+>/g)).toEqual(['<!subteam^S0ONCALL01>'])
    const alone = view({ state: 'starting', decision: emergency }, { rule: escalating })
    expect(report(alone, 'break-glass')?.match(/<[@!][^>]+>/g)).toEqual(['<!subteam^S0ONCALL01>'])
  })

  test('of an emergency approval is sent in every later state, and not where another person approved', () => {
    for (const state of requestStates.filter((each) => each !== 'waiting'))
      expect(report(view({ state, decision: emergency }), 'break-glass'), state).toContain('approved their own request')
    expect(report(view({ state: 'done', decision: approvedBy('U0BEN00001') }), 'break-glass')).toBeUndefined()
  })
})

test('a name with a line break cannot imitate a line of the bot', () => {
  const revoke = phrase`Revoke API key ${'x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'}`
  const named = { description: { ...description, title: revoke }, done: revoke }
  for (const [name, request] of [
    ['reminder-half', {}],
    ['ended', { ...sent, state: 'done' }],
  ] as const) {
    expect(report(view(request, named), name)).toContain('Revoke API key `x :large_green_circle:')
    expect(report(view(request, named), name)).not.toContain('\n')
  }
})
