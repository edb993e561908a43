import { describe, expect, test } from 'vitest'
import { type Request, requestStates } from '../../../../src/domain/request.ts'
import { approvalCard, type CardView, isFinished, requestDetails } from '../../../../src/messages/request-message.ts'
import { mrkdwn } from '../../../../src/slack/text.ts'
import { problemsWithBlocks } from '../../../sandbox/slack/validate-blocks.ts'
import { readable, readableBlocks } from '../../readable.ts'
import { minutes, requestedAt, requestFor } from '../../request-for-test.ts'
import { cardViewFor } from '../card-view-for-test.ts'

const at = (minute: number) => requestedAt + minute * minutes
const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001' }
const approved = { decision: byBen, approvals: [{ ...byBen, at: at(12) }], decidedAt: at(12) }
const sent = { ...approved, sentAt: at(12), acceptedAt: at(12) }

const ended = (more: Partial<Request>, view: Partial<CardView> = {}) =>
  cardViewFor({ request: requestFor({ endedAt: at(13), reason: 'see https://tickets.nimbus.example/OPS-1', ...more }), ...view })

/** Shows times as minutes of the hour. */
const steady = (text: string) => text.replaceAll(/<!date\^[^|]*\|[^>]* \d\d:(\d\d) UTC>/g, '14:$1')

describe('a finished request', () => {
  test('is described in two lines: what happened to what, and who requested and decided it, when, and how long it took', () => {
    const cards = [
      ended({ ...sent, state: 'done' }, { reverseLabel: 'Move back' }),
      ended({ ...sent, state: 'done', needsApproval: false, decision: { via: 'no-approval' }, approvals: [] }),
      ended({ ...sent, state: 'failed' }, { ending: { why: 'web-2 was deleted.' } }),
      ended({ ...sent, state: 'not-started' }, { ending: { why: 'The address is still on web-1.' } }),
      ended({ ...sent, state: 'superseded' }, { ending: { why: 'The address is on web-3.' } }),
      ended({ ...sent, state: 'untracked', stoppedBy: 'U0CHI00001' }),
      ended({ ...approved, state: 'voided' }, { ending: { why: 'The address was on web-1, and is on web-3 now.' } }),
      ended({
        state: 'rejected',
        decidedAt: at(13),
        decision: { ...byBen, reason: 'Not during the sale, see https://status.nimbus.example' },
      }),
      ended({ state: 'withdrawn' }),
      ended({ state: 'expired' }),
      ended({ ...approved, state: 'expired' }, { ending: { why: 'Approved, but not used before the deadline.' } }),
      ended({ ...sent, state: 'done', decision: { ...byBen, by: 'U0ADA00001', breakGlass: true, reason: 'web-1 burns' }, approvals: [] }),
    ].map((view) => steady(readableBlocks(approvalCard(view).blocks)))

    expect(cards.join('\n\n')).toMatchInlineSnapshot(`
      ":large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  took 1 min  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Move back] [Details]

      :large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      (Requested by <@U0ADA00001>, no approval needed  ·  14:13  ·  took 1 min  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Details]

      :red_circle: *Failed*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. web-2 was deleted.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  took 1 min  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :red_circle: *Not started*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. The address is still on web-1.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :large_orange_circle: *Superseded*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. The address is on web-3.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :large_orange_circle: *No longer tracked*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. The account API had accepted it. It may still finish.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  stopped by <@U0CHI00001>, 14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Track again] [Details]

      :large_orange_circle: *Canceled*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. The account changed since the request. Nothing was done. The address was on web-1, and is on web-3 now.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :no_entry: *Rejected*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      Rejected because: Not during the sale, see [https://status.nimbus.example]
      (Requested by <@U0ADA00001>, rejected by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Requested because: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :leftwards_arrow_with_hook: *Withdrawn*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      (Requested and withdrawn by <@U0ADA00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :alarm_clock: *Expired*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. Nothing was done.
      (Requested by <@U0ADA00001>  ·  no decision by 14:00  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :alarm_clock: *Expired*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. Approved, but not used before the deadline. Nothing was done.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      [Request again] [Details]

      :large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      (:rotating_light: *Emergency approval:* requested and approved by <@U0ADA00001> alone  ·  14:13  ·  took 1 min  ·  Request \`b7e23ec2\`)
      (Reason: \`see https://tickets.nimbus.example/OPS-1\`)
      (Reason for the emergency approval: \`web-1 burns\`)
      [Details]"
    `)
  })

  test('says the same in the words that notifications show', () => {
    const rejected = ended(
      { state: 'rejected', decidedAt: at(13), decision: { ...byBen, reason: 'Not *now*' } },
      { environment: 'production' },
    )

    expect(steady(approvalCard(rejected).text)).toMatchInlineSnapshot(`
      ":no_entry: *Rejected*  ·  [production] Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      Rejected because: \`Not *now*\`
      Requested by <@U0ADA00001>, rejected by <@U0BEN00001>  ·  14:13  ·  Request \`b7e23ec2\`
      Requested because: \`see https://tickets.nimbus.example/OPS-1\`"
    `)
  })

  test('links the request that it undoes, and shows the beginning of a long reason', () => {
    const { text } = approvalCard(
      ended({ ...sent, state: 'done', reason: 'because '.repeat(40) }, { undoes: { id: '80fbcd61aa', link: undefined } }),
    )

    expect(text).toContain('  ·  Undoes request 80fbcd61\n')
    expect(text.split('\n').at(-1)).toMatch(/^Reason: `because .*…`$/)
    expect(text.split('\n').at(-1)?.length).toBeLessThan(170)
  })

  test('names the person who rejected it once', () => {
    const { blocks } = approvalCard(ended({ state: 'rejected', decidedAt: at(13), decision: { ...byBen, reason: 'no' } }))

    expect(JSON.stringify(blocks).split('U0BEN00001')).toHaveLength(2)
  })

  test.each(requestStates)('has blocks that Slack takes, with its details: %s', (state) => {
    const view = ended({ ...sent, state, decision: { ...byBen, reason: 'https://a.example and <b>' } }, { checks: [mrkdwn`web-2 is off.`] })

    expect(problemsWithBlocks(approvalCard(view).blocks)).toEqual([])
    expect(problemsWithBlocks(requestDetails(view).blocks)).toEqual([])
  })
})

describe('the time that a change took', () => {
  const line = (more: Partial<Request>) =>
    approvalCard(ended({ ...sent, state: 'done', ...more }))
      .text.split('\n')
      .at(1)

  test('has the time in which it was not tracked, because it may have ended in that', () => {
    expect(line({ endedAt: at(72) + 18_000, untrackedMs: 59 * minutes })).toContain(
      '  ·  finished within 1\u00a0h (tracking was off for 59\u00a0min)',
    )
  })

  test('is left out if it is less than a second, and for a change that was never sent', () => {
    expect(line({ endedAt: at(12) + 400 })).not.toContain('took')
    expect(line({ sentAt: undefined })).not.toContain('took')
  })
})

describe('the details of a finished request', () => {
  test('have all that the request message showed before, and when each step was taken', () => {
    const view = ended(
      { ...sent, state: 'done', lateAt: at(12) + 30_000 },
      { checks: [mrkdwn`web-2 is locked on the account.`], unchecked: [mrkdwn`whether web-2 is in the same site`] },
    )

    // Several steps follow in the same minute.
    expect(requestDetails(view).text).toMatch(/Ended, <!date\^\d+\^\{time_secs\} \{date_short_pretty\}/)
    expect(steady(readable(requestDetails(view)))).toMatchInlineSnapshot(`
      ":large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      Reason: see [https://tickets.nimbus.example/OPS-1]
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      :warning: *Warnings at the time of the request*
      •  web-2 is locked on the account.
      •  Not checked: whether web-2 is in the same site.
      Requested by <@U0ADA00001>, 14:00
      Approved by <@U0BEN00001>, 14:12
      Sent to the account API, 14:12
      Accepted by the account API, 14:12
      Reported as late, 14:12
      Ended, 14:13
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  By setting \`APPROVERS\`  ·  Request \`b7e23ec29af22b0b4e41da31e868d572\`)
      --- in words ---
      :large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      Reason: \`see https://tickets.nimbus.example/OPS-1\`
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
      :warning: *Warnings at the time of the request*
      •  web-2 is locked on the account.
      •  Not checked: whether web-2 is in the same site.
      Requested by <@U0ADA00001>, 14:00
      Approved by <@U0BEN00001>, 14:12
      Sent to the account API, 14:12
      Accepted by the account API, 14:12
      Reported as late, 14:12
      Ended, 14:13
      Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  By setting \`APPROVERS\`  ·  Request \`b7e23ec29af22b0b4e41da31e868d572\`"
    `)
  })

  test('say who stopped the tracking and who started it again, in the order of time', () => {
    const pauses = [{ stoppedBy: 'U0CHI00001', stoppedAt: at(13), resumedBy: 'U0BEN00001', resumedAt: at(20) }]
    const lines = (more: Partial<Request>) =>
      steady(requestDetails(ended({ ...sent, ...more })).text)
        .split('\n')
        .slice(-6, -1)

    expect(lines({ state: 'done', pauses, lateAt: at(15), endedAt: at(30) })).toEqual([
      'Accepted by the account API, 14:12',
      'Tracking stopped by <@U0CHI00001>, 14:13',
      'Reported as late, 14:15',
      'Tracked again by <@U0BEN00001>, 14:20',
      'Ended, 14:30',
    ])
    expect(lines({ state: 'untracked', pauses, stoppedBy: 'U0ADA00001', endedAt: at(30) }).at(-1)).toBe(
      'Tracking stopped by <@U0ADA00001>, 14:30',
    )
  })

  test('are offered once the request is finished, and not before', () => {
    for (const state of requestStates) {
      const view = ended({ state })
      expect(JSON.stringify(approvalCard(view).blocks).includes('request-details'), state).toBe(isFinished(view))
    }
  })
})
