import { describe, expect, test } from 'vitest'
import { onlyRequest, startWorldUnder } from '../journeys/policy-world.ts'
import { general, ops, people, requestMove, sendPayload, untilReport } from '../journeys/world.ts'
import type { Slack } from '../sandbox/slack/slack.ts'

const policy = `
rules:
  - name: addresses
    changes: ip.move
    approve: { any_of: [S0ONCALL01], approvals: 2 }
    self_approval: break-glass
`

/** Starts a bot, with a request of Ben, who may approve it alone in an emergency. */
async function startEmergency() {
  const world = await startWorldUnder(policy, { env: { OPS_CHANNEL: general } })
  world.slack.invite(general)
  return { ...world, ...(await requestMove(world, { by: world.ben })) }
}

/** Submits the open form with a reason that no field of a form takes. */
async function submitReason(slack: Slack, userId: string, reason: string): Promise<string> {
  const { view } = await slack.until(() => slack.as(userId).topView())
  const values = { reason: { reason: { type: 'plain_text_input', value: reason } } }
  return sendPayload({ slack }, { type: 'view_submission', view: { ...view, state: { values } } }, userId)
}

describe('an approver who approves alone in an emergency, and wants nobody to read it', () => {
  test.each<[string, string, RegExp]>([
    ['a reason that fits into no message', 'x'.repeat(60_000), /up to 500 characters/],
    ['a reason of characters that show nothing', '\u200b\u2060\u0001\ufff9', /Too short/],
  ])('gives %s, and is refused', async (_, reason, words) => {
    const world = await startEmergency()
    await world.ben.click(world.card, 'Approve')

    const answer = await submitReason(world.slack, people.ben, reason)

    expect(answer).toMatch(words)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  })

  test('takes the name of somebody else, and is linked by id, without a mention that would notify them', async () => {
    const world = await startEmergency()
    Object.assign(world.slack.workspace.people.find(({ id }) => id === people.ben) ?? {}, { name: 'Chiara Conti', handle: 'chiara' })
    await world.ben.click(world.card, 'Approve')

    await submitReason(world.slack, people.ben, 'no reason at all')

    const report = await untilReport(world.slack, world.card.ts, /Emergency approval/)
    expect(report.text).toMatch(new RegExp(`/team/${people.ben}\\|[^>]+> approved their own request`))
    expect(JSON.stringify(report.blocks)).not.toContain(`<@${people.ben}>`)
    expect(report.text).not.toContain(people.chiara)
  })
})

test('an approver who rejects with a reason that fits into no message is refused', async () => {
  const world = await startWorldUnder(policy)
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Reject')

  const answer = await submitReason(world.slack, people.ben, 'x'.repeat(60_000))

  expect(answer).toMatch(/up to 500 characters/)
  expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  await world.ben.fill(undefined, { Reason: 'Not today' })
  await world.ben.submit()
  expect((await untilReport(world.slack, card.ts, /Rejected/)).channel).toBe(ops)
})
