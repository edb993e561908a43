import { describe, expect, test } from 'vitest'
import { toGroup } from '../../../../src/domain/policy.ts'
import { type RequestState, requestStates } from '../../../../src/domain/request.ts'
import { owner, phrase } from '../../../../src/domain/text.ts'
import { type ReportView, report as reportInEachLayout } from '../../../../src/messages/reports.ts'
import { hasTable } from '../../../../src/slack/interactions.ts'
import { profileLink } from '../../../../src/slack/text.ts'
import { readableBlocks } from '../../readable.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../../request-for-test.ts'

function view(more: Partial<ReportView> = {}): ReportView {
  return {
    request: requestFor(),
    items: [],
    description,
    ending: { why: '' },
    done: phrase`${'203.0.113.10'} is assigned to ${'web-2'}.`,
    remark: undefined,
    handover: undefined,
    reverseLabel: undefined,
    rule: ruleFor(),
    showActor: (userId, words = '@Ben') => profileLink(userId, `https://nimbus.slack.com/team/${userId}`, words),
    lateAfter: '15 min',
    now: requestedAt + 120 * minutes,
    ...more,
  }
}

function report(...of: Parameters<typeof reportInEachLayout>) {
  const message = reportInEachLayout(...of)
  return message && hasTable(message) ? message.instead : message
}

const approvedBy = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: requestedAt + minutes })
const threeOf = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 3 } })

test('a report has the same words in its blocks and in its text', () => {
  const { text = '', blocks = [] } = report(view(), 'reminder-half') ?? {}

  expect(readableBlocks(blocks)).toBe(text)
})

test('while the account API does not answer, late says that nobody knows, and the end says how long it may have been over', () => {
  const request = requestFor({ state: 'tracking', sentAt: requestedAt, unanswered: { since: requestedAt + minutes } })
  const ended = { ...request, state: 'done', endedAt: requestedAt + 10 * minutes } as const

  expect(report(view({ request, now: requestedAt + 16 * minutes }), 'late')?.text).toMatch(
    /\*Status unknown:\* .* was sent 16.min ago\. The account API hasn't answered since .* It may be done\. Still checking\..* check the provider's dashboard\.$/,
  )
  expect(report(view({ request: ended }), 'ended')?.text).toMatch(/Finished within 10.min \(the account API didn't answer for 9.min\)\./)
})

test('a message that Slack does not update is corrected in its thread', () => {
  const request = requestFor({ state: 'tracking', sentAt: requestedAt })

  expect(report(view({ request }), 'outdated')?.text).toBe(
    '<@U0ADA00001> :warning: *The request message is out of date:* Slack refused its update, so its buttons may be wrong. “Move `203.0.113.10`: `web-1` → `web-2`” is now *moving*. `/infra audit b7e23ec2` shows its steps.',
  )
})

describe('a resolved alert', () => {
  const resolvedIn = (state: RequestState, reverseLabel?: string) =>
    report(view({ request: requestFor({ state }), reverseLabel }), 'resolved')?.text

  test('calls those who approved the request while it goes on', () => {
    expect(resolvedIn('tracking')).toBe(
      '<@U0ADA00001> :information_source: The alert resolved. “Move `203.0.113.10`: `web-1` → `web-2`” was approved before, so it goes on.',
    )
  })

  test('calls nobody once the request is done, and names the button that undoes it', () => {
    expect(resolvedIn('done', 'Move back')).toBe(
      ":information_source: The alert resolved. “Move `203.0.113.10`: `web-1` → `web-2`” is already done. Lockkeeper doesn't undo it by itself. To undo it, press *Move back* above.",
    )
  })

  test('says only how the request ended if there is nothing to undo', () => {
    expect(resolvedIn('not-started')).toBe(
      ':information_source: The alert resolved. “Move `203.0.113.10`: `web-1` → `web-2`” had already ended: not started.',
    )
  })
})

describe('a reminder', () => {
  test('at half of the time calls those who may approve', () => {
    expect(report(view(), 'reminder-half')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” still needs approval. Expires in 2 h. Press *Approve* or *Reject* above."`,
    )
  })

  test('at nine tenths says how little time is left', () => {
    expect(report(view({ now: requestedAt + 216 * minutes }), 'reminder-last')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” still needs approval. Expires in 24 min. Press *Approve* or *Reject* above."`,
    )
  })

  test('says how many have approved and how many are missing', () => {
    const request = requestFor({ approvals: [approvedBy('U0BEN00001'), approvedBy('U0CHI00001')], missing: 1 })

    expect(report(view({ request, rule: threeOf }), 'reminder-half')?.text).toMatchInlineSnapshot(
      `":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” still needs approval (2 of 3 so far). Expires in 2 h. Press *Approve* or *Reject* above."`,
    )
  })

  test('counts only people who may still approve', () => {
    const request = requestFor({ approvals: [approvedBy('U0BEN00001'), approvedBy('U0CHI00001')], missing: 2 })

    expect(report(view({ request, rule: threeOf }), 'reminder-half')?.text).toContain('(1 of 3 so far)')
  })

  test('does not call people who need not act: the requester, and those who have approved', () => {
    const approve = { anyOf: toGroup(['U0ADA00001', 'U0BEN00001', 'U0CHI00001']), allOf: [], approvals: 2 }
    const request = requestFor({ approvals: [approvedBy('U0BEN00001')], missing: 1 })

    const { text } = report(view({ request, rule: ruleFor({ approve }) }), 'reminder-half') ?? { text: '' }

    expect(text.match(/<@\w+>/g)).toEqual(['<@U0CHI00001>'])
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

describe('the call of the requester of a key', () => {
  const handover = { label: 'Create key' }
  const approvals = [approvedBy('U0BEN00001')]
  const approved = requestFor({ state: 'approved', approvals, decidedAt: requestedAt, expiresAt: requestedAt + 240 * minutes })
  const now = requestedAt

  test('says who approved what, what to press and until when', () => {
    const { text } = report(view({ request: approved, handover, now }), 'approved') ?? { text: '' }

    expect(text).toMatchInlineSnapshot(
      `"<@U0ADA00001>, approved by <https://nimbus.slack.com/team/U0BEN00001|@Ben>: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. Press *Create key* above by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>."`,
    )
    const two = requestFor({ ...approved, approvals: [...approvals, approvedBy('U0CHI00001')] })
    expect(report(view({ request: two, handover, now }), 'approved')?.text).toMatch(
      /approved by <\S+U0BEN00001\|@Ben> and <\S+U0CHI00001\|@Ben>:/,
    )
  })

  test('has the date of a deadline that is a day or more away', () => {
    const request = requestFor({ ...approved, expiresAt: requestedAt + 24 * 60 * minutes })

    expect(report(view({ request, handover, now }), 'approved')?.text).toContain('{time} {date_short_pretty}')
  })

  test('is repeated at half and nine tenths of the time, with the time that is left', () => {
    const at = (left: number) => requestedAt + (240 - left) * minutes
    const reminders = [
      report(view({ request: approved, handover, now: at(120) }), 'handover-half'),
      report(view({ request: approved, handover, now: at(24) }), 'handover-last'),
    ].map((sent) => sent?.text)

    expect(reminders.join('\n')).toMatchInlineSnapshot(`
      ":hourglass_flowing_sand: <@U0ADA00001>, “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” is approved. Press *Create key* above by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (2 h left).
      :hourglass_flowing_sand: <@U0ADA00001>, “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” is approved. Press *Create key* above by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (24 min left)."
    `)
  })

  test.each(requestStates.filter((state) => state !== 'approved'))('is not sent once the request is %s', (state) => {
    for (const name of ['approved', 'handover-half', 'handover-last'] as const)
      expect(report(view({ request: requestFor({ ...approved, state }), handover, now }), name)).toBeUndefined()
  })

  test('is not sent for a change that needs no requester', () => {
    for (const name of ['approved', 'handover-half', 'handover-last'] as const)
      expect(report(view({ request: approved, now }), name)).toBeUndefined()
  })
})

describe('the report of an emergency approval', () => {
  const decision = {
    by: 'U0ADA00001',
    rule: 'APPROVERS',
    via: 'S0ONCALL01',
    reason: 'web-1 burns <!channel>',
    breakGlass: true,
  }

  test('calls the other approvers, and mentions the requester once, who did it', () => {
    const rule = ruleFor({ approve: { anyOf: toGroup(['U0ADA00001', 'U0BEN00001']), allOf: [], approvals: 1 } })
    const request = requestFor({ state: 'starting', decision })

    expect(report(view({ request, rule }), 'break-glass')?.text).toContain(
      '<@U0BEN00001>: <https://nimbus.slack.com/team/U0ADA00001|The requester> approved their own request alone',
    )
  })

  test('calls all who could have approved it, with who did it, what and why', () => {
    expect(report(view({ request: requestFor({ state: 'starting', decision }) }), 'break-glass')?.text).toMatchInlineSnapshot(
      `
      ":rotating_light: *Emergency approval.* <!subteam^S0ONCALL01>: <https://nimbus.slack.com/team/U0ADA00001|The requester> approved their own request alone: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. Check it now.
      Reason: \`web-1 burns &lt;!channel&gt;\`"
    `,
    )
  })

  test.each(requestStates.filter((state) => state !== 'waiting'))('is sent also if the request is %s by then', (state) => {
    expect(report(view({ request: requestFor({ state, decision }) }), 'break-glass')?.text).toContain('approved their own request alone')
  })

  test('is sent also if no rule covers the request any more', () => {
    expect(report(view({ request: requestFor({ state: 'done', decision }), rule: undefined }), 'break-glass')?.text).toContain(
      '*Emergency approval.* <https://nimbus.slack.com/team/U0ADA00001|The requester> approved',
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
      <@U0ADA00001> :large_orange_circle: *Canceled:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. The account changed since the request. Nothing was done. The address is on web-3 now, not on web-1. Still wanted? Press *Request again* above.
      <@U0ADA00001> :no_entry: *Rejected* by <https://nimbus.slack.com/team/U0BEN00001|@Ben>: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”.
      Reason: \`Not during the sale.\`
      <@U0ADA00001> :alarm_clock: *Expired:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” wasn't approved before the deadline. Nothing was done. Still wanted? Press *Request again* above."
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

  test('does not call the requester who stopped the tracking', () => {
    const request = requestFor({ state: 'untracked', sentAt: requestedAt, endedAt: requestedAt + minutes, stoppedBy: 'U0ADA00001' })

    expect(report(view({ request }), 'stopped')?.text).not.toContain('<@')
  })

  test('says who stopped the tracking', () => {
    const request = requestFor({ state: 'untracked', sentAt, endedAt: sentAt + 5 * minutes, stoppedBy: 'U0CHI00001' })

    expect(report(view({ request }), 'stopped')?.text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :large_orange_circle: *No longer tracked:* “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. <https://nimbus.slack.com/team/U0CHI00001|@Ben> stopped tracking after 5 min. It may still finish. Press *Track again* above to learn how it ends."`,
    )
  })

  test('is not sent for a stop if the tracking has started again', () => {
    expect(report(view({ request: requestFor({ state: 'tracking', sentAt, stoppedBy: 'U0CHI00001' }) }), 'stopped')).toBeUndefined()
  })
})

test('a call to the approvers does not ring the phone of the person that a key is for', () => {
  const rotate = phrase`Rotate API key ${'ci-deploy'}${owner('U0CHI00001')}`
  const sent = report(view({ request: requestFor(), description: { ...description, title: rotate } }), 'reminder-half')

  expect(sent?.text).toContain('“Rotate API key `ci-deploy`” still needs approval')
})

test.each([
  ['reminder-half', requestFor()],
  ['ended', requestFor({ state: 'done', sentAt: requestedAt, endedAt: requestedAt + minutes })],
] as const)('a name with a line break cannot imitate a line of the bot (%s)', (name, request) => {
  const revoke = phrase`Revoke API key ${'x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'}`
  const sent = report(view({ request, description: { ...description, title: revoke }, done: revoke }), name)

  expect(sent?.text).toContain('Revoke API key `x :large_green_circle:')
  expect(sent?.text).not.toContain('\n')
})
