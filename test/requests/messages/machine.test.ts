import { describe, expect, test } from 'vitest'
import { alertsRequester } from '../../../src/domain/approval.ts'
import { type RequestState, requestStates } from '../../../src/domain/request.ts'
import { otherIsOpen } from '../../../src/messages/forms.ts'
import { denialWords, tooLate } from '../../../src/messages/refusals.ts'
import { approvalCard, cardActions } from '../../../src/messages/request-message.ts'
import { warningWords } from '../../../src/messages/warnings.ts'
import { description, requestFor } from '../request-for-test.ts'
import { cardViewFor } from './card-view-for-test.ts'

const origin = { ...requestFor().origin, userId: alertsRequester }
const requested = (state: RequestState) => requestFor({ origin, state, reason: 'web-1 is down', alert: { name: 'NodeDown' } })

describe("a machine's request", () => {
  test.each(requestStates)('is shown as one of Alertmanager: %s', (state) => {
    const { text, blocks } = approvalCard(cardViewFor({ request: requested(state) }))

    expect(text).not.toMatch(/<@alerts>|`alerts`|@alerts/)
    expect(JSON.stringify(blocks)).not.toMatch(/<@alerts>|`alerts`/)
  })

  test('has no button for its requester, who clicks on nothing', () => {
    const labels = cardActions(cardViewFor({ request: requested('waiting') })).map((button) => button.text.text)

    expect(labels).toEqual(['Approve', 'Reject'])
  })

  test('says where its target comes from, and how to choose another one, until it is decided', () => {
    const words = (state: RequestState) => approvalCard(cardViewFor({ request: requested(state), subject: 'web-1' })).text

    expect(words('waiting')).toContain('The policy chose the target. For another one, reject this and run `/infra evacuate web-1`.')
    expect(words('tracking')).not.toContain('The policy chose the target')
  })

  test('is not offered to be withdrawn where no rule is left', () => {
    const { text } = approvalCard(cardViewFor({ request: requested('waiting'), rule: undefined }))

    expect(text).toContain('Alertmanager needs approval, but nobody can give it. No policy rule covers this anymore.\n')
  })

  test('is described in the words of alerts', () => {
    const labelOf = (kind: string) => kind
    const words = [
      tooLate(requested('withdrawn'), 'U0BEN00001'),
      otherIsOpen(requested('waiting'), {
        viewerId: 'U0BEN00001',
        subject: '203.0.113.10',
        link: undefined,
        title: description.title,
      }),
      denialWords({ code: 'too-few-approvers', rule: 'failover', needed: 2, requester: alertsRequester }, labelOf),
      denialWords({ code: 'only-requester-may-break-glass', requester: alertsRequester }, labelOf),
    ]

    expect(words.map(({ text }) => text).join('\n')).toMatchInlineSnapshot(`
      "The alert that requested this has resolved. No change made.
      Nothing was requested, because Alertmanager has an open request for \`203.0.113.10\` in <#C0OPS00001>: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” (waiting for approval). Have it approved or rejected there, or wait until it ends.
      Not enough approvers: rule “failover” needs 2. Nothing was requested. The people who run Lockkeeper can add active members to the rule.
      An alert requested this, so nobody can approve it alone."
    `)
  })

  test('is named as one of Alertmanager in a later warning, also where the rule mentions other people', () => {
    const change = { by: alertsRequester, requestId: 'a', kind: 'ip.move', resource: 'x', facts: {}, names: ['203.0.113.10'] }
    const { checks } = warningWords({ warnings: [{ code: 'last-change', agoMs: 60_000, ...change }], personNames: {} }, undefined, () => [
      'a change',
    ])

    expect(checks.map(({ text }) => text)).toEqual([expect.stringContaining('by Alertmanager')])
  })
})
