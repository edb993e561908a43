import { afterEach, describe, expect, test, vi } from 'vitest'
import { noticeView } from '../../../src/slack/blocks.ts'
import type { SubmissionAnswer } from '../../../src/slack/interactions.ts'
import { createTakeSubmission } from '../../../src/slack/listen.ts'
import { writeMetadata } from '../../../src/slack/payloads.ts'
import { type Mrkdwn, mention, mrkdwn } from '../../../src/slack/text.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

afterEach(() => void vi.useRealTimers())

/** Submits a form that the bot refuses with these problems after some time. */
async function submitWith(problems: Record<string, Mrkdwn>, afterMs = 0) {
  vi.useFakeTimers()
  const acks: unknown[] = []
  const updates: unknown[] = []
  const refused: SubmissionAnswer = { is: 'refused', problems, again: noticeView }
  const take = createTakeSubmission({
    handlers: { submissions: { form: () => new Promise((resolve) => setTimeout(resolve, afterMs, refused)) } },
    authorize: async () => {},
    messenger: {
      updateView: async (_, view) => {
        updates.push(view)
        return { is: 'sent' } as never
      },
    },
    answerTo: (() => ({})) as never,
    isFirstDelivery: async () => true,
    explain: () => mrkdwn`An error.`,
    withNames: (words) => mrkdwn`${words} Ask the operators.`,
    onUnhandled: () => {},
  })
  const payload = {
    user: { id: 'U0ADA00001' },
    view: { id: 'V1', hash: 'h', callback_id: 'form', private_metadata: writeMetadata({ origin }), blocks: [], state: { values: {} } },
    trigger_id: 't1',
  }
  const taken = take(payload as never, async (answer) => void acks.push(answer))
  await vi.runAllTimersAsync()
  await taken
  return { acks, updates }
}

describe('a form with several problems', () => {
  test('shows each at its field', async () => {
    const { acks } = await submitWith({ name: mrkdwn`Choose another name.`, address: mrkdwn`Not an address.` })

    const errors = { name: 'Choose another name. Ask the operators.', address: 'Not an address. Ask the operators.' }
    expect(acks).toEqual([{ response_action: 'errors', errors }])
  })

  test('shows all on top if one of them mentions somebody, because a field shows no mention', async () => {
    const { acks } = await submitWith({ name: mrkdwn`Taken by ${mention('U0BEN00001')}.`, address: mrkdwn`Not an address.` })

    expect(JSON.stringify(acks)).toMatch(/"response_action":"update".*Taken by <@U0BEN00001>\. Ask the operators\. Not an address\./)
  })

  test('shows all on top if they come late', async () => {
    const { updates } = await submitWith({ name: mrkdwn`Choose another name.`, address: mrkdwn`Not an address.` }, 5_000)

    expect(JSON.stringify(updates)).toContain('Choose another name. Ask the operators. Not an address. Ask the operators.')
  })
})
