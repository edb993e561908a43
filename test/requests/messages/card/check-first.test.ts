import { describe, expect, test } from 'vitest'
import { approvalCard } from '../../../../src/requests/messages/card/card.ts'
import { cardActions } from '../../../../src/requests/messages/card/card-actions.ts'
import type { CardView } from '../../../../src/requests/messages/card/card-view.ts'
import { code, mrkdwn } from '../../../../src/slack/text/text.ts'
import { problemsWithBlocks } from '../../../sandbox/slack/validate-blocks.ts'
import { readable } from '../../readable.ts'
import { requestFor, ruleFor } from '../../request-for-test.ts'
import { cardViewFor } from '../card-view-for-test.ts'

const isOff = mrkdwn`${code('web-2')} has status ${code('off')}.`
const isLocked = mrkdwn`${code('web-2')} is locked on the account.`

const approveOf = (more: Partial<CardView>) => cardActions(cardViewFor(more))[0]

describe('what approvers should check first', () => {
  test('is above the buttons, and in the words of notifications', () => {
    const card = approvalCard(cardViewFor({ checks: [isOff, isLocked], unchecked: [mrkdwn`whether it answers`] }))

    expect(readable(card)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time}|2026-11-18 18:00 UTC>.
      | *Project* / \`Storefront\`
      | *Site* / \`ASH\`
      (Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`)
      :warning: *Check first*
      •  \`web-2\` has status \`off\`.
      •  \`web-2\` is locked on the account.
      •  Not checked: whether it answers.
      [Approve, primary, asks once more] [Reject, danger] [Withdraw]
      --- in words ---
      Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time}|2026-11-18 18:00 UTC>.
      Check first: \`web-2\` has status \`off\`. \`web-2\` is locked on the account. Not checked: whether it answers.
      Project: Storefront
      Site: ASH
      Elastic IP \`eip_1GijF7NsZe3bN\`  ·  From \`sv_1WFgWmkF9Mzju\`  ·  To \`sv_22mUQSvUfeqdv\`  ·  Request \`b7e23ec2\`"
    `)
  })

  test('is repeated below the change by a dialog when they press *Approve*', () => {
    const approve = approveOf({ checks: [isOff], unchecked: [mrkdwn`whether it answers`] })

    expect(approve?.confirm).toMatchInlineSnapshot(`
      {
        "confirm": {
          "emoji": false,
          "text": "Approve",
          "type": "plain_text",
        },
        "deny": {
          "emoji": false,
          "text": "Cancel",
          "type": "plain_text",
        },
        "text": {
          "text": "Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      \`web-2\` has status \`off\`.
      Not checked: whether it answers.",
          "type": "mrkdwn",
          "verbatim": true,
        },
        "title": {
          "emoji": false,
          "text": "Approve this change?",
          "type": "plain_text",
        },
      }
    `)
  })

  test('asks for no confirmation where there is nothing: *Approve* stays one tap', () => {
    expect(approveOf({})?.confirm).toBeUndefined()
  })

  test('is asked for by a rule with `confirm`, too, which shows the change', () => {
    expect(approveOf({ rule: ruleFor({ confirm: true }) })?.confirm).toMatchObject({
      title: { text: 'Approve this change?' },
      text: { text: 'Move `203.0.113.10`: `web-1` → `web-2`' },
    })
  })

  test('fits into the dialog whole, or the change with the first lines and the number of the others', () => {
    const checks = Array.from({ length: 9 }, (_, index) => mrkdwn`${`Line ${index} `.repeat(8)}`)
    const card = approvalCard(cardViewFor({ checks }))
    const { text } = approveOf({ checks })?.confirm ?? {}

    expect(problemsWithBlocks(card.blocks)).toEqual([])
    expect(text?.text.split('\n').at(-1)).toBe('6 more: see the message.')
    expect(text?.text.split('\n')).toHaveLength(5)
  })

  test('leaves the change whole in the dialog if one line is too long for it', () => {
    const checks = [mrkdwn`${'x'.repeat(400)}`]

    expect(approveOf({ checks })?.confirm?.text.text).toBe('Move `203.0.113.10`: `web-1` → `web-2`\n1 more: see the message.')
    expect(problemsWithBlocks(approvalCard(cardViewFor({ checks })).blocks)).toEqual([])
  })

  test('is still shown once it is approved', () => {
    const { text } = approvalCard(cardViewFor({ request: requestFor({ state: 'tracking' }), checks: [isOff] }))

    expect(text).toContain('Warnings: `web-2` has status `off`.')
  })
})
