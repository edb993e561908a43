import { describe, expect, test } from 'vitest'
import { phrase } from '../../../src/domain/phrase.ts'
import { toGroup } from '../../../src/domain/policy.ts'
import { type RequestState, requestStates } from '../../../src/domain/request.ts'
import { type ReportView, report } from '../../../src/requests/messages/reports.ts'
import { readableBlocks } from '../readable.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../request-for-test.ts'

function view(more: Partial<ReportView> = {}): ReportView {
  return {
    request: requestFor(),
    description,
    ending: { why: '' },
    done: phrase`${'203.0.113.10'} is assigned to ${'web-2'}.`,
    remark: undefined,
    rule: ruleFor(),
    lateAfter: '15 min',
    now: requestedAt + 120 * minutes,
    ...more,
  }
}

const approvedBy = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: requestedAt + minutes })
const threeOf = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 3 } })

test('a report has the same words in its blocks and in its text', () => {
  const { text = '', blocks = [] } = report(view(), 'reminder-half') ?? {}

  expect(readableBlocks(blocks)).toBe(text)
})

describe('a reminder', () => {
  test('at half of the time calls those who may approve', () => {
    expect(report(view(), 'reminder-half')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It expires in 2 h: press *Approve* or *Reject* on the card above."`,
    )
  })

  test('at nine tenths says how little time is left', () => {
    expect(report(view({ now: requestedAt + 216 * minutes }), 'reminder-last')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It expires in 24 min: press *Approve* or *Reject* on the card above."`,
    )
  })

  test('says how many have approved and how many are missing', () => {
    const request = requestFor({ approvals: [approvedBy('U0BEN00001'), approvedBy('U0CHI00001')], missing: 1 })

    expect(report(view({ request, rule: threeOf }), 'reminder-half')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It has 2, and needs 1 more. It expires in 2 h: press *Approve* or *Reject* on the card above."`,
    )
  })

  test('counts only people who may still approve', () => {
    const request = requestFor({ approvals: [approvedBy('U0BEN00001'), approvedBy('U0CHI00001')], missing: 2 })

    expect(report(view({ request, rule: threeOf }), 'reminder-half')?.text).toContain('It has 1, and needs 2 more.')
  })

  test('mentions only the people that the rule mentions', () => {
    const text = (mention: string[]) => report(view({ rule: ruleFor({ mention: toGroup(mention) }) }), 'reminder-half')?.text

    expect(text(['U0EVE00001', 'S0PAGED001'])).toContain('<@U0EVE00001> and <!subteam^S0PAGED001> “Move')
    expect(text(['S0PAGED001'])).not.toContain('S0ONCALL01')
    expect(text([])).not.toContain('<')
  })

  test.each(requestStates.filter((state) => state !== 'waiting'))('is not sent once the request is %s', (state) => {
    expect(report(view({ request: requestFor({ state }) }), 'reminder-half')).toBeUndefined()
    expect(report(view({ request: requestFor({ state }) }), 'reminder-last')).toBeUndefined()
  })

  test('is not sent if no rule covers the request any more', () => {
    expect(report(view({ rule: undefined }), 'reminder-half')).toBeUndefined()
  })
})

describe('the report of an emergency approval', () => {
  const decision = { by: 'U0ADA00001', rule: 'APPROVERS', via: 'S0ONCALL01', reason: 'web-1 burns <!channel>', breakGlass: true }

  test('calls all who could have approved it, with who did it, what and why', () => {
    expect(report(view({ request: requestFor({ state: 'starting', decision }) }), 'break-glass')?.text).toMatchInlineSnapshot(
      `":rotating_light: *Break-glass.* <!subteam^S0ONCALL01>: <@U0ADA00001> asked for “Move 203.0.113.10 from web-1 to web-2” and approved it alone. Look at it now, and talk about it afterwards. Reason: \`web-1 burns &lt;!channel&gt;\`"`,
    )
  })

  test.each(requestStates.filter((state) => state !== 'waiting'))('is sent also if the request is %s by then', (state) => {
    expect(report(view({ request: requestFor({ state, decision }) }), 'break-glass')?.text).toContain('approved it alone')
  })

  test('is sent also if no rule covers the request any more', () => {
    expect(report(view({ request: requestFor({ state: 'done', decision }), rule: undefined }), 'break-glass')?.text).toContain(
      '*Break-glass.* <@U0ADA00001>',
    )
  })

  test('is not sent if another person approved', () => {
    const usual = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001' }
    expect(report(view({ request: requestFor({ state: 'done', decision: usual }) }), 'break-glass')).toBeUndefined()
  })
})

describe('the report of an end', () => {
  const sentAt = requestedAt + 10 * minutes

  test('has its own words for each end, and mentions the requester', () => {
    const ends = [
      { state: 'done' as const },
      { state: 'failed' as const, why: 'web-2 was deleted.' },
      { state: 'failed' as const, why: 'web-2 was deleted.', acceptedAt: sentAt },
      { state: 'not-started' as const, why: 'The address is still on web-1.' },
      { state: 'superseded' as const, why: 'The address is on web-3.' },
      { state: 'voided' as const, why: 'The address is on web-3 now, not on web-1.' },
      { state: 'rejected' as const, decision: { by: 'U0BEN00001', via: 'U0BEN00001', reason: 'Not during the sale.' } },
      { state: 'expired' as const },
    ].map(
      ({ why = '', ...end }: { state: RequestState; why?: string }) =>
        report(view({ request: requestFor({ ...end, sentAt, endedAt: sentAt + 43_000 }), ending: { why } }), 'ended')?.text,
    )

    expect(ends.join('\n')).toMatchInlineSnapshot(`
      "<@U0ADA00001> :large_green_circle: *Done.* \`203.0.113.10\` is assigned to \`web-2\`. It took 43 s.
      <@U0ADA00001> :red_circle: *Failed:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. web-2 was deleted. Still wanted? Press *Request again* above.
      <@U0ADA00001> :red_circle: *Failed:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. web-2 was deleted. Check the account before you request it again.
      <@U0ADA00001> :red_circle: *Not started:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. The address is still on web-1. Still wanted? Press *Request again* above.
      <@U0ADA00001> :large_orange_circle: *Superseded:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. The address is on web-3. Lockkeeper leaves it as it is.
      <@U0ADA00001> :large_orange_circle: *Canceled:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. The account changed since the request, so nothing was done. The address is on web-3 now, not on web-1. Still wanted? Press *Request again* above.
      <@U0ADA00001> :no_entry: *Rejected* by <@U0BEN00001>: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. Reason: \`Not during the sale.\`
      <@U0ADA00001> :alarm_clock: *Expired:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” was not decided before the deadline. Nothing was done. Still wanted? Press *Request again* above."
    `)
    expect(new Set(ends).size).toBe(ends.length)
  })

  test.each(['failed', 'not-started', 'voided'] as const)('says what to do if the same request would fail again (%s)', (state) => {
    const request = requestFor({ state, endedAt: sentAt })
    const ending = { why: 'web-2 is outdated.', next: "Contact the provider's support." }

    const { text } = report(view({ request, ending }), 'ended') ?? { text: '' }

    expect(text).toMatch(/web-2 is outdated\. Contact the provider's support\.$/)
    expect(text).not.toContain('Request again')
  })

  test('says who stopped the tracking', () => {
    const request = requestFor({ state: 'untracked', sentAt, endedAt: sentAt + 5 * minutes, stoppedBy: 'U0CHI00001' })

    expect(report(view({ request }), 'stopped')?.text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :large_orange_circle: *No longer tracked:* “Move 203.0.113.10 from web-1 to web-2”. <@U0CHI00001> stopped tracking after 5 min. The account API had accepted it, so it may still finish. *Watch again* above resumes the tracking."`,
    )
  })

  test('is not sent for a stop if the tracking has started again', () => {
    expect(report(view({ request: requestFor({ state: 'tracking', sentAt, stoppedBy: 'U0CHI00001' }) }), 'stopped')).toBeUndefined()
  })
})

test.each([
  ['reminder-half', requestFor()],
  ['ended', requestFor({ state: 'done', sentAt: requestedAt, endedAt: requestedAt + minutes })],
] as const)('a name with a line break cannot imitate a line of the bot (%s)', (name, request) => {
  const sentence = 'Revoke API key x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'
  const sent = report(view({ request, description: { ...description, sentence }, done: phrase`${sentence}` }), name)

  expect(sent?.text).toContain('Revoke API key x :large_green_circle:')
  expect(sent?.text).not.toContain('\n')
})
