import { describe, expect, test } from 'vitest'
import { alertsRequester } from '../../../src/domain/approval.ts'
import type { RequestState } from '../../../src/domain/request.ts'
import { otherIsOpen } from '../../../src/messages/forms.ts'
import { denialWords, tooLate } from '../../../src/messages/refusals.ts'
import { warningWords } from '../../../src/messages/warnings.ts'
import { description, requestFor } from '../request-for-test.ts'

const origin = { ...requestFor().origin, userId: alertsRequester }
const requested = (state: RequestState) => requestFor({ origin, state, reason: 'web-1 is down', alert: { name: 'NodeDown' } })

describe("a machine's request", () => {
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
