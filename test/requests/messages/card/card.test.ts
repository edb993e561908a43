import { describe, expect, test } from 'vitest'
import { toGroup } from '../../../../src/domain/policy.ts'
import { type Request, RequestItem, requestStates } from '../../../../src/domain/request.ts'
import { approvalCard, type CardView, cardActions, fitsOnCard } from '../../../../src/messages/request-message.ts'
import { cardButtons } from '../../../../src/messages/words.ts'
import { mrkdwn } from '../../../../src/slack/text.ts'
import { charactersIn } from '../../../sandbox/slack/characters-in.ts'
import { readable, readableBlocks } from '../../readable.ts'
import { description, minutes, requestedAt, requestFor, ruleFor } from '../../request-for-test.ts'
import { cardViewFor } from '../card-view-for-test.ts'

const approvedBy = (by: string, minute: number) => ({ by, rule: 'APPROVERS', via: by, at: requestedAt + minute * minutes })
const threeOf = ruleFor({ approve: { anyOf: toGroup(['S0ONCALL01', 'U0DEE00001']), allOf: [], approvals: 3 } })

/** The labels of a card's buttons. */
const buttonsOf = (card: CardView) => cardActions(card).map(({ text }) => text.text)

test('an approved request says that it waits for the account API while that does not answer', () => {
  const cardOf = (more: Partial<Request>) => approvalCard(cardViewFor({ request: requestFor({ state: 'approved', ...more }) })).text

  expect(cardOf({})).toContain('*Approved.* Starting.')
  expect(cardOf({ waits: { for: 'account' } })).toContain(
    "*Approved.* Waiting for the account API, which isn't answering. Nothing has changed yet.",
  )
  expect(cardOf({ waits: { for: 'writes', ms: 40_000, until: 1, perMinute: 20 } })).toContain(
    "*Approved.* Waits for the account's limit of 20 changes a minute, about 40\u00a0s.",
  )
  expect(cardOf({ waits: { for: 'worker' } })).toContain('*Approved.* Not started yet: no worker of Lockkeeper is running.')
})

test('a request under way says since when nobody can see how far it is, and how many were moved before', () => {
  const shown = { lastSeen: undefined, sentAt: requestedAt, lateAt: undefined, endedAt: undefined, ending: { why: '' } }
  const items = (['done', 'tracking', 'starting'] as const).map((state) => ({ ...shown, id: state, name: state, state }))
  const sent = { sentAt: requestedAt, unanswered: { since: requestedAt + minutes } }
  const cardOf = (more: Partial<Request>, others: Partial<CardView> = {}) =>
    approvalCard(cardViewFor({ request: requestFor({ ...sent, ...more }), ...others })).text

  expect(cardOf({ state: 'starting' })).toMatch(
    /Status unknown:\* the account API hasn't answered since .* It was sent, and may be done\. Still checking\./,
  )
  expect(cardOf({ state: 'tracking', lateAt: requestedAt }, { items })).toMatch(
    /Status unknown:\* the account API hasn't answered since .* \*1 of 3 moved\* before that\. More may have moved since\. Still checking\./,
  )
  const stored = items.map(({ id, state }) => RequestItem.parse({ id, state }))
  const rows = cardOf({ state: 'tracking', items: stored }, { items })
    .split('\n')
    .filter((line) => /`(done|tracking|starting)`/.test(line))
  expect(rows).toEqual([
    ':large_green_circle: `done`  moved',
    ':grey_question: `tracking`  sent, status unknown',
    ':grey_question: `starting`  sent, status unknown',
  ])
  expect(cardOf({ state: 'tracking', unanswered: { since: requestedAt, until: requestedAt + minutes } })).toContain('since')
  expect(cardOf({ state: 'tracking', unanswered: { since: requestedAt, until: requestedAt + minutes } })).not.toContain('unknown')
})

describe('the card of a waiting request', () => {
  test('shows who may approve, until when, and the whole request', () => {
    const card = approvalCard(
      cardViewFor({
        request: requestFor({ reason: 'web-1 is being replaced' }),
        unchecked: [mrkdwn`whether ${'web-2'} is in the same site`],
      }),
    )

    expect(readable(card)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
      Reason: web-1 is being replaced
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`)
      :warning: *Check first*
      •  Not checked: whether web-2 is in the same site.
      [Approve, primary, asks once more] [Reject, danger] [Withdraw]
      --- in words ---
      Move 203.0.113.10: web-1 → web-2
      Check first: Not checked: whether web-2 is in the same site.
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
      Reason: \`web-1 is being replaced\`
      Project: Storefront
      Site: ASH
      Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`"
    `)
    expect(card.blocks.at(-1)).toMatchObject({
      block_id: 'card-b7e23ec29af22b0b4e41da31e868d572-1',
      elements: ['approve', 'reject', 'withdraw'].map((name) => ({
        action_id: `request-${name}`,
        value: '1.b7e23ec29af22b0b4e41da31e868d572.eb5281f6f8096468',
      })),
    })
  })

  test('shows how many people have approved, who and when, if several must', () => {
    const request = requestFor({ revision: 3, approvals: [approvedBy('U0BEN00001', 5), approvedBy('U0CHI00001', 9)], missing: 1 })

    expect(readable(approvalCard(cardViewFor({ request, rule: threeOf })))).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from 3 of <@U0DEE00001> or <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
      :ballot_box_with_check: *2 of 3 approvals*: <@U0BEN00001>, <!date^1795010700^{time} {date_short_pretty}|2026-11-18 14:05 UTC>; <@U0CHI00001>, <!date^1795010940^{time} {date_short_pretty}|2026-11-18 14:09 UTC>
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`)
      [Approve, primary] [Reject, danger] [Withdraw]
      --- in words ---
      Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from 3 of <@U0DEE00001> or <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
      2 of 3 approvals: <@U0BEN00001>, <@U0CHI00001>
      Project: Storefront
      Site: ASH
      Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`"
    `)
  })

  test('shows before the first approval that several are needed', () => {
    const { text } = approvalCard(cardViewFor({ rule: threeOf }))

    expect(text).toContain('0 of 3 approvals')
    expect(text).toContain('<@U0ADA00001> needs approval from 3 of <@U0DEE00001> or <!subteam^S0ONCALL01> by')
  })

  test('counts only people who may still approve', () => {
    const request = requestFor({ revision: 4, approvals: [approvedBy('U0BEN00001', 5), approvedBy('U0CHI00001', 9)], missing: 2 })

    const { text, blocks } = approvalCard(cardViewFor({ request, rule: threeOf }))

    expect(text).toContain('1 of 3 approvals')
    expect(JSON.stringify(blocks)).toContain('*1 of 3 approvals*')
  })

  test('shows no count if one approval is enough', () => {
    expect(JSON.stringify(approvalCard(cardViewFor()))).not.toContain('of 1 approvals')
  })

  test('mentions only the people that the rule mentions, and names the approvers', () => {
    const rule = ruleFor({ mention: toGroup(['S0PAGED001']) })

    const card = approvalCard(cardViewFor({ request: requestFor({ approverNames: '@ben or @oncall' }), rule }))

    expect(readableBlocks(card.blocks)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from @ben or @oncall by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request). cc <!subteam^S0PAGED001>
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`)
      [Approve, primary] [Reject, danger] [Withdraw]"
    `)
    expect(JSON.stringify(card)).not.toContain('S0ONCALL01')
  })

  test('shows names as text, also if they contain markup', () => {
    const { text } = approvalCard(
      cardViewFor({ request: requestFor({ approverNames: '@<!channel>' }), rule: ruleFor({ mention: toGroup([]) }) }),
    )

    expect(text).toContain('needs approval from @&lt;!channel&gt; by')
    expect(text).not.toContain('cc')
  })

  test('says that nobody may approve if no rule covers the request any more', () => {
    const { text } = approvalCard(cardViewFor({ rule: undefined }))

    expect(text).toContain('needs approval, but nobody can give it. No policy rule covers this anymore.')
  })
})

describe('the card of a decided request', () => {
  const decided = { state: 'tracking' as const, revision: 5, decidedAt: requestedAt + 12 * minutes, sentAt: requestedAt + 12 * minutes }

  test('shows each of several approvals with its time', () => {
    const approvals = [approvedBy('U0BEN00001', 5), approvedBy('U0CHI00001', 9), approvedBy('U0DEE00001', 12)]
    const request = requestFor({ ...decided, approvals, decision: { by: 'U0DEE00001', rule: 'APPROVERS', via: 'U0DEE00001' } })

    expect(readableBlocks(approvalCard(cardViewFor({ request, rule: threeOf })).blocks)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      :arrows_counterclockwise: *Moving* since <!date^1795011120^{time} {date_short_pretty}|2026-11-18 14:12 UTC>.
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Requested by <@U0ADA00001>, <!date^1795010400^{time} {date_short_pretty}|2026-11-18 14:00 UTC>  ·  Approved by <@U0BEN00001>, <!date^1795010700^{time} {date_short_pretty}|2026-11-18 14:05 UTC>  ·  Approved by <@U0CHI00001>, <!date^1795010940^{time} {date_short_pretty}|2026-11-18 14:09 UTC>  ·  Approved by <@U0DEE00001>, <!date^1795011120^{time} {date_short_pretty}|2026-11-18 14:12 UTC>  ·  Request \`b7e23ec2\`)
      [Stop tracking, asks once more]"
    `)
  })

  test('shows who approved alone in an emergency, and why', () => {
    const decision = { by: 'U0ADA00001', rule: 'APPROVERS', via: 'S0ONCALL01', reason: 'web-1 burns <!here>', breakGlass: true }
    const request = requestFor({ ...decided, decision })

    expect(readableBlocks(approvalCard(cardViewFor({ request })).blocks)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      :arrows_counterclockwise: *Moving* since <!date^1795011120^{time} {date_short_pretty}|2026-11-18 14:12 UTC>.
      Reason for the emergency approval: web-1 burns <!here>
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Requested by <@U0ADA00001>, <!date^1795010400^{time} {date_short_pretty}|2026-11-18 14:00 UTC>  ·  :rotating_light: *Emergency approval:* approved alone by <@U0ADA00001>, the requester, <!date^1795011120^{time} {date_short_pretty}|2026-11-18 14:12 UTC>  ·  Request \`b7e23ec2\`)
      [Stop tracking, asks once more]"
    `)
  })

  test('shows who stopped the tracking, and the button to start it again', () => {
    const request = requestFor({
      ...decided,
      state: 'untracked',
      revision: 6,
      decision: { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001' },
      approvals: [approvedBy('U0BEN00001', 12)],
      endedAt: requestedAt + 20 * minutes,
      stoppedBy: 'U0CHI00001',
    })

    expect(readableBlocks(approvalCard(cardViewFor({ request })).blocks)).toMatchInlineSnapshot(`
      ":large_orange_circle: *No longer tracked*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`. The account API had accepted it. It may still finish.
      (Requested by <@U0ADA00001>, approved by <@U0BEN00001>  ·  stopped by <@U0CHI00001>, <!date^1795011600^{time} {date_short_pretty}|2026-11-18 14:20 UTC>  ·  Request \`b7e23ec2\`)
      [Track again] [Details]"
    `)
  })

  test('shows that no approval was needed', () => {
    const request = requestFor({ ...decided, needsApproval: false, decision: { rule: 'NO_APPROVAL', via: 'no-approval' } })

    expect(approvalCard(cardViewFor({ request, rule: ruleFor({ approve: undefined }) })).text).toContain('No approval needed')
  })
})

describe('the buttons of a card', () => {
  test('are those that have an effect in the state', () => {
    const table = requestStates.map((state) => {
      const usual = buttonsOf(cardViewFor({ request: requestFor({ state }) }))
      const forHandover = buttonsOf(cardViewFor({ request: requestFor({ state }), handoverLabel: 'Create key' }))
      const reversible = buttonsOf(cardViewFor({ request: requestFor({ state }), reverseLabel: 'Move back' }))
      const free = buttonsOf(cardViewFor({ request: requestFor({ state, needsApproval: false }) }))
      return [state, usual, ...[forHandover, reversible, free].filter((each) => each.join() !== usual.join())]
    })

    expect(table.map(([state, ...buttons]) => `${state}: ${buttons.map((some) => `[${some}]`).join(' or ')}`)).toMatchInlineSnapshot(`
      [
        "waiting: [Approve,Reject,Withdraw] or []",
        "approved: [Withdraw] or [Create key,Withdraw]",
        "starting: []",
        "tracking: [Stop tracking]",
        "done: [Details] or [Move back,Details]",
        "failed: [Request again,Details]",
        "not-started: [Request again,Details]",
        "superseded: [Request again,Details]",
        "untracked: [Track again,Details] or [Details]",
        "voided: [Request again,Details]",
        "rejected: [Request again,Details]",
        "withdrawn: [Request again,Details]",
        "expired: [Request again,Details]",
      ]
    `)
  })

  test('do not include *Request again* if the same request would fail again, and the card says what to do instead', () => {
    const ending = { why: 'web-2 is outdated.', next: "Contact the provider's support." }
    const ended = requestStates.map((state) => cardViewFor({ request: requestFor({ state }), ending }))

    expect(ended.flatMap(buttonsOf)).not.toContain('Request again')
    for (const state of ['failed', 'not-started', 'voided'] as const) {
      const { text, blocks } = approvalCard(cardViewFor({ request: requestFor({ state }), ending }))
      expect(text).toContain("web-2 is outdated. Contact the provider's support.")
      expect(JSON.stringify(blocks)).toContain("web-2 is outdated. Contact the provider's support.")
    }
  })

  test('carry the request and its hash, in a block with another id at each revision', () => {
    const { id, hash } = requestFor()
    const blocks = (revision: number) =>
      approvalCard(cardViewFor({ request: requestFor({ revision }) })).blocks.filter(({ type }) => type === 'actions')

    expect(cardActions(cardViewFor()).map(({ value }) => value)).toEqual(Array.from({ length: 3 }, () => `1.${id}.${hash.slice(0, 16)}`))
    expect(blocks(1)[0]?.block_id).not.toBe(blocks(2)[0]?.block_id)
  })

  test('ask for a confirmation before a key is rotated, because its old token stops working', () => {
    const request = requestFor({ state: 'approved' })
    const confirmOf = (more: Partial<CardView>) => cardActions(cardViewFor({ request, ...more }))[0]?.confirm

    expect(confirmOf({ handoverLabel: 'Create key' })).toBeUndefined()
    expect(confirmOf({ handoverLabel: 'Rotate key', handoverWarning: 'The old token stops working at once.' })).toMatchObject({
      title: { text: 'Move 203.0.113.10: web-1 → web-2?' },
      text: { text: 'The old token stops working at once. The new one is shown once, only to you.' },
      confirm: { text: 'Rotate key' },
      deny: { text: 'Cancel' },
    })
  })

  test('ask for a confirmation before an approval is lost', () => {
    const withdrawOf = (state: 'waiting' | 'approved') =>
      cardActions(cardViewFor({ request: requestFor({ state }) })).find(({ action_id }) => action_id === cardButtons.withdraw)

    expect(withdrawOf('waiting')).toMatchObject({ text: { text: 'Withdraw' } })
    expect(withdrawOf('waiting')?.confirm).toBeUndefined()
    expect(withdrawOf('approved')?.confirm).toMatchObject({
      title: { text: 'Withdraw this request?' },
      text: {
        text: "Move `203.0.113.10`: `web-1` → `web-2`\nIt's approved, and nothing was sent to the account API yet. A new request needs a new approval.",
      },
      confirm: { text: 'Withdraw' },
      deny: { text: 'Cancel' },
    })
  })

  test('ask for a confirmation before the tracking stops', () => {
    expect(cardActions(cardViewFor({ request: requestFor({ state: 'tracking' }) }))).toMatchInlineSnapshot(`
      [
        {
          "action_id": "request-stop-tracking",
          "confirm": {
            "confirm": {
              "emoji": false,
              "text": "Stop tracking",
              "type": "plain_text",
            },
            "deny": {
              "emoji": false,
              "text": "Keep tracking",
              "type": "plain_text",
            },
            "text": {
              "text": "Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      It was sent and can't be canceled. It may still finish, but no result will be posted.",
              "type": "mrkdwn",
              "verbatim": true,
            },
            "title": {
              "emoji": false,
              "text": "Stop tracking?",
              "type": "plain_text",
            },
          },
          "text": {
            "emoji": false,
            "text": "Stop tracking",
            "type": "plain_text",
          },
          "type": "button",
          "value": "1.b7e23ec29af22b0b4e41da31e868d572.eb5281f6f8096468",
        },
      ]
    `)
  })
})

describe('the length of a card', () => {
  const factsOf = (count: number, length: number) => ({
    ...description,
    facts: Array.from({ length: count }, (_, index) => ({ label: `Fact ${index}`, value: 'x'.repeat(length) })),
  })

  test('is limited to what one message can show', () => {
    expect(fitsOnCard(cardViewFor())).toBe(true)
    expect(fitsOnCard(cardViewFor({ description: factsOf(200, 10) }))).toBe(true)
    expect(fitsOnCard(cardViewFor({ description: factsOf(250, 10) }))).toBe(false)
    expect(fitsOnCard(cardViewFor({ description: factsOf(2, 2_500) }))).toBe(false)
    expect(fitsOnCard(cardViewFor({ description: { ...description, facts: Array(490).fill({ label: '', value: '.' }) } }))).toBe(false)
  })

  test('has room for every later state: a request that fits is shown whole in all of them', () => {
    const longest = cardViewFor({ description: factsOf(190, 10), request: requestFor({ reason: 'y'.repeat(100) }), rule: threeOf })
    expect(fitsOnCard(longest)).toBe(true)
    const reason = '&'.repeat(500)
    const approvals = Array.from({ length: 10 }, (_, index) => approvedBy(`U0BEN0000${index}`, index))
    const why = `${'w'.repeat(900)} ${'&'.repeat(200)}`

    for (const state of requestStates) {
      for (const decision of [
        { by: 'U0BEN00001', via: 'U0BEN00001', reason },
        { by: 'U0ADA00001', via: 'U0ADA00001', reason, breakGlass: true },
      ]) {
        const more = { state, approvals, decision, decidedAt: requestedAt + minutes, endedAt: requestedAt + minutes }
        const card = { ...longest, ending: { why, next: 'Ask.' }, request: { ...longest.request, ...more } }
        const { blocks } = approvalCard(card)
        expect(JSON.stringify(blocks)).not.toContain('not shown')
        expect(blocks.filter(({ type }) => type === 'actions')).toHaveLength(cardActions(card).length > 0 ? 1 : 0)
        expect(charactersIn(blocks)).toBeLessThanOrEqual(10_000)
      }
    }
  })

  test('never cuts a request that fits', () => {
    const whole = cardViewFor({ description: factsOf(190, 10), request: requestFor({ reason: 'y'.repeat(500) }) })
    const shown = JSON.stringify(approvalCard(whole).blocks)

    expect(whole.description.facts.every(({ label, value }) => shown.includes(`*${label}*\\n\`${value}\``))).toBe(true)
    expect(shown).toContain('y'.repeat(500))
    expect(shown).not.toContain('not shown')
  })
})
