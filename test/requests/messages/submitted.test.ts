import { expect, test } from 'vitest'
import type { SubmitOutcome } from '../../../src/requests/messages/submitted.ts'
import { submittedWords } from '../../../src/requests/messages/submitted.ts'

test('the requester learns what happens next, and what the request waits for', () => {
  const words = (['posted', 'card-delayed'] as const).flatMap((is) =>
    [undefined, 'Create key'].flatMap((handoverLabel) =>
      [true, false].map((needsApproval) => {
        const outcome: SubmitOutcome = { is, requestId: 'b7e23ec29af22b0b4e41da31e868d572', needsApproval, handoverLabel }
        return `${is}, ${needsApproval ? 'to be approved' : 'without approval'}${handoverLabel ? ', handed over' : ''}\n${submittedWords(outcome)}`
      }),
    ),
  )

  expect(words.join('\n\n')).toMatchInlineSnapshot(`
    "posted, to be approved
    Asked for. The card is in the channel, and its thread tells how it ends.

    posted, without approval
    Asked for. The card is in the channel, and its thread tells how it ends.

    posted, to be approved, handed over
    Asked for. Once it is approved, press *Create key* on its card: the token is made on that click, and shown to you alone.

    posted, without approval, handed over
    Asked for. Press *Create key* on its card: the token is made on that click, and shown to you alone.

    card-delayed, to be approved
    Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and nothing happens before somebody approves it.

    card-delayed, without approval
    Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and this starts then: it needs no approval.

    card-delayed, to be approved, handed over
    Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and nothing is made before it is approved and you press *Create key* on it.

    card-delayed, without approval, handed over
    Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and nothing is made before you press *Create key* on it."
  `)
})
