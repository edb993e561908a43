import { describe, expect, test } from 'vitest'
import { onlyRequest, repliesTo, requestMove, restart, startWorldUnder } from './policy-world.ts'
import { untilReport } from './world.ts'

describe('reminders and expiry', () => {
  test('each is sent once across restarts, only the later one if both were missed, and the request expires while no bot runs', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { records, slack } = world
    const hours = (count: number) => count * 3_600_000
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(records)

    await restart(world, () => records.shiftTimes(id, hours(5.5)))
    const half = await untilReport(slack, card.ts, /still needs approval/)
    await restart(world, () => records.shiftTimes(id, hours(1)))
    await restart(world, () => records.shiftTimes(id, hours(3)))
    const last = await slack.until(() => repliesTo(world, card)[1])
    await restart(world, () => records.shiftTimes(id, hours(1)))
    await untilReport(slack, card.ts, /Expired/)

    expect(half.text).toContain('Expires in 4\u00a0h')
    expect(last.text).toContain('Expires in 30\u00a0min')
    expect(repliesTo(world, card)).toHaveLength(3)

    const second = await requestMove(world)
    const [other] = (await records.all()).filter((request) => request.id !== id)
    await restart(world, () => records.shiftTimes(other?.id ?? '', hours(9.5)))
    await untilReport(slack, second.card.ts, /still needs approval/)
    await world.ben.click(second.card, 'Approve')
    await untilReport(slack, second.card.ts, /Done/)

    expect(repliesTo(world, second.card).map(({ text }) => text)).toMatchInlineSnapshot(`
      [
        ":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” still needs approval. Expires in 30 min. Press *Approve* or *Reject* above.",
        "<@U0ADA00001> :large_green_circle: *Done.* \`203.0.113.10\` is assigned to \`web-2\`.",
      ]
    `)
  })

  test('a reminder whose answer was lost is searched for while Slack has trouble, and comes once', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(world.records)
    const isReminder = ({ text }: Record<string, unknown>) => /still needs/.test(String(text))
    const lost = world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', when: isReminder })
    const trouble = world.slack.faults.add({ method: 'conversations.replies', kind: 'status', status: 503 })

    await restart(world, () => world.records.shiftTimes(id, 5.5 * 3_600_000))
    await world.slack.until(() => world.slack.calls('conversations.replies')[1], { what: 'the second look for it' })
    await expect.poll(() => world.records.redis.zcard(world.records.keys.outbox)).toBe(0)

    expect([lost.fired, trouble.fired]).toEqual([1, 1])
    expect(repliesTo(world, card).map(({ text }) => text.includes('repeat'))).toEqual([false])
  })

  test('an approval is not delayed by a reminder that is being sent', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(world.records)
    const isReminder = ({ text }: Record<string, unknown>) => /still needs/.test(String(text))
    const slow = world.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 1_000, when: isReminder })
    await restart(world, () => world.records.shiftTimes(id, 5.5 * 3_600_000))
    await expect.poll(() => slow.fired, { timeout: 5_000, interval: 20 }).toBe(1)

    await world.ben.click(card, 'Approve')

    await world.slack.until(() => repliesTo(world, card).some(({ text }) => /Done/.test(text)), {
      timeoutMs: 20_000,
      what: 'the end of the move',
    })
  })
})
