import { expect, test } from 'vitest'
import { type SubmitOutcome, submittedWords } from '../../../../src/messages/forms.ts'
import { mrkdwn } from '../../../../src/slack/text.ts'

test('the requester learns what happens next, and what the request waits for', () => {
  const words = (['posted', 'card-delayed'] as const).flatMap((is) =>
    [undefined, 'Create key'].flatMap((handoverLabel) =>
      [true, false].map((needsApproval) => {
        const asked = needsApproval ? { approvers: mrkdwn`@oncall`, until: mrkdwn`6:31 AM today` } : undefined
        const outcome: SubmitOutcome = {
          is,
          requestId: 'b7e23ec29af22b0b4e41da31e868d572',
          title: mrkdwn`Move 203.0.113.10: web-1 → web-2`,
          channelId: 'C0OPS00001',
          asked,
          handoverLabel,
        }
        return `${is}, ${needsApproval ? 'to be approved' : 'without approval'}${handoverLabel ? ', handed over' : ''}\n${submittedWords(outcome)}`
      }),
    ),
  )

  expect(words.join('\n\n')).toMatchInlineSnapshot(`
    "posted, to be approved
    Request posted in <#C0OPS00001>: “Move 203.0.113.10: web-1 → web-2”. It needs approval from @oncall by 6:31 AM today. Nothing changes until it's approved.

    posted, without approval
    Request posted in <#C0OPS00001>: “Move 203.0.113.10: web-1 → web-2”. No approval needed. The result will be in its thread.

    posted, to be approved, handed over
    Request posted in <#C0OPS00001>: “Move 203.0.113.10: web-1 → web-2”. It needs approval from @oncall by 6:31 AM today. After that, press *Create key* on the request message. Only then is the token created, and only you see it.

    posted, without approval, handed over
    Request posted in <#C0OPS00001>: “Move 203.0.113.10: web-1 → web-2”. No approval needed: press *Create key* on the request message. Only then is the token created, and only you see it.

    card-delayed, to be approved
    Request recorded: “Move 203.0.113.10: web-1 → web-2”. Slack hasn't confirmed its message yet. It will appear in the channel. Nothing happens until it's approved.

    card-delayed, without approval
    Request recorded: “Move 203.0.113.10: web-1 → web-2”. Slack hasn't confirmed its message yet. It will appear in the channel. It starts then. No approval needed.

    card-delayed, to be approved, handed over
    Request recorded: “Move 203.0.113.10: web-1 → web-2”. Slack hasn't confirmed its message yet. It will appear in the channel. Nothing is created until it's approved and you press *Create key* on it.

    card-delayed, without approval, handed over
    Request recorded: “Move 203.0.113.10: web-1 → web-2”. Slack hasn't confirmed its message yet. It will appear in the channel. Nothing is created until you press *Create key* on it."
  `)
})
