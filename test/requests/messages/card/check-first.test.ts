import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../../src/domain/change.ts'
import { approvalCard, type CardView, cardActions } from '../../../../src/messages/request-message.ts'
import { warningWords } from '../../../../src/messages/warnings.ts'
import { explainEvacuation } from '../../../../src/moves/evacuation.ts'
import { code, mrkdwn, profileLink } from '../../../../src/slack/text.ts'
import { problemsWithBlocks } from '../../../sandbox/slack/validate-blocks.ts'
import { readable } from '../../readable.ts'
import { requestFor, ruleFor } from '../../request-for-test.ts'
import { cardViewFor } from '../card-view-for-test.ts'

const isOff = mrkdwn`${code('web-2')} has status ${code('off')}.`
const isLocked = mrkdwn`${code('web-2')} is locked on the account.`

const approveOf = (more: Partial<CardView>) => cardActions(cardViewFor(more))[0]

/** The card of an evacuation that leaves out an address for this reason. */
function leavingOut(...findings: Finding[]) {
  const causes = findings.map((finding) => ({ address: '203.0.113.12', finding }))
  const words = warningWords({ warnings: [{ code: 'left-out', causes }], personNames: {} }, { explain: explainEvacuation }, () => [])
  return cardViewFor(words)
}

const notChosen = { code: 'not-chosen', address: '203.0.113.12' }
const isElsewhere = { code: 'not-on-server', address: '203.0.113.12', server: 'web-1', now: 'web-9' }
const cannotMove = { code: 'not-active', address: '203.0.113.12', status: 'error' }

describe('an address that an evacuation leaves out', () => {
  test.each([notChosen, isElsewhere])(
    'is small print where nothing is to be confirmed, and *Approve* stays one press: $code',
    (finding) => {
      const view = leavingOut(finding)

      expect(approveOf(view)?.confirm).toBeUndefined()
      expect(approvalCard(view).text).not.toContain('Check first')
      expect(approvalCard(view).text).toContain('203.0.113.12')
    },
  )

  test('is something to check first if it stays on the server although it was to be moved', () => {
    const view = leavingOut(notChosen, cannotMove)

    expect(approveOf(view)?.confirm?.text.text).toContain('2 addresses are left out.')
    expect(approvalCard(view).text).toContain('Check first')
  })
})

describe('what approvers should check first', () => {
  test('is above the buttons, and in the words of notifications', () => {
    const card = approvalCard(cardViewFor({ checks: [isOff, isLocked], unchecked: [mrkdwn`whether it answers`] }))

    expect(readable(card)).toMatchInlineSnapshot(`
      "# Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
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
      :warning: *Check first*
      •  \`web-2\` has status \`off\`.
      •  \`web-2\` is locked on the account.
      •  Not checked: whether it answers.
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC> (4 h after the request).
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
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
    expect(text?.text.split('\n').at(-1)).toBe('6 more to check: press Cancel and read the message.')
    expect(text?.text.split('\n')).toHaveLength(5)
  })

  test('is the first sentence of each in the dialog if all does not fit', () => {
    const more = mrkdwn`${code('v1. 2')} may need it. ${'More about it. '.repeat(8)}`
    const shown = approveOf({ checks: [mrkdwn`${isOff} ${more}`, mrkdwn`${isLocked} ${more}`, more] })?.confirm?.text.text

    expect(shown?.split('\n').slice(1)).toEqual([
      '`web-2` has status `off`.',
      '`web-2` is locked on the account.',
      '`v1. 2` may need it.',
      'The message says more about these.',
    ])
  })

  test('fits into the dialog without the addresses of links, and needs no room for a note if all of it fits', () => {
    const who = profileLink('U0ADA00001', `https://nimbus.slack.com/team/${'U0ADA00001'.repeat(12)}`, '@Ada')
    const checks = [mrkdwn`${code('web-2')} was last changed 3 hours before this request, by ${who}.`, mrkdwn`${'x'.repeat(180)}`]
    const shown = approveOf({ checks })?.confirm?.text.text

    expect(shown?.split('\n').slice(1)).toEqual(['`web-2` was last changed 3 hours before this request, by @Ada.', 'x'.repeat(180)])
  })

  test('leaves the change whole in the dialog if one line is too long for it', () => {
    const checks = [mrkdwn`${'x'.repeat(400)}`]

    expect(approveOf({ checks })?.confirm?.text.text).toBe(
      'Move `203.0.113.10`: `web-1` → `web-2`\n1 more to check: press Cancel and read the message.',
    )
    expect(problemsWithBlocks(approvalCard(cardViewFor({ checks })).blocks)).toEqual([])
  })

  test('is still shown once it is approved', () => {
    const { text } = approvalCard(cardViewFor({ request: requestFor({ state: 'tracking' }), checks: [isOff] }))

    expect(text).toContain(':warning: *Warnings*\n•  `web-2` has status `off`.')
  })
})
