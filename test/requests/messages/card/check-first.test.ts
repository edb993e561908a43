import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../../src/domain/change.ts'
import { approvalCard, type CardView, cardActions } from '../../../../src/messages/request-message.ts'
import { warningWords } from '../../../../src/messages/warnings.ts'
import { explainEvacuation } from '../../../../src/moves/evacuation.ts'
import { cardViewFor } from '../../../messages/card-view-for-test.ts'

const approveOf = (more: Partial<CardView>) => cardActions(cardViewFor(more))[0]

/** The card of an evacuation that leaves out an address for this reason. */
function leavingOut(...findings: Finding[]) {
  const words = warningWords(
    { warnings: [{ code: 'left-out', causes: findings }], personNames: {} },
    { explain: explainEvacuation },
    () => [],
  )
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
