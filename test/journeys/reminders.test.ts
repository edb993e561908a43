import { describe, expect, test } from 'vitest'
import { onlyRequest, repliesTo, restart, startWorldUnder } from './policy-world.ts'
import { requestMove, untilReport } from './world.ts'

const hours = (count: number) => count * 3_600_000

/** A request that can be approved for ten hours. `pass` lets time pass while no bot runs. */
async function startRequest(options = {}) {
  const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }', options)
  const { card } = await requestMove(world)
  const { id } = await onlyRequest(world.records)
  const pass = (count: number) => restart(world, () => world.records.shiftTimes(id, hours(count)))
  return { world, card, pass }
}

describe('a reminder of a request that waits', () => {
  test('comes at half and at nine tenths of the time, each once across restarts, and then the request expires while no bot runs', async () => {
    const { world, card, pass } = await startRequest()

    await pass(5.5)
    const half = await untilReport(world.slack, card.ts, /<!subteam\^S0ONCALL01> .*still needs approval/)
    await pass(1)
    await pass(3)
    const last = await world.slack.until(() => repliesTo(world, card)[1])
    await pass(1)
    await untilReport(world.slack, card.ts, /<@U0ADA00001> .*Expired.*wasn't approved before the deadline/)

    expect([half.text, last.text]).toEqual([expect.stringContaining('in 4\u00a0h'), expect.stringContaining('in 30\u00a0min')])
    expect(repliesTo(world, card)).toHaveLength(3)
    expect((await world.records.audit()).map(({ act }) => act)).toEqual(['request', 'remind', 'remind', 'expire'])
  })

  test('is only the later one if both were missed, and none comes after the approval', async () => {
    const { world, card, pass } = await startRequest()

    await pass(9.5)
    await untilReport(world.slack, card.ts, /still needs approval\. Expires in 30\smin/)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(repliesTo(world, card)).toHaveLength(2)
  })
})
