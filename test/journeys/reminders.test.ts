import { describe, expect, test } from 'vitest'
import { cardNow, finn, onlyRequest, repliesTo, restart, startWorldUnder } from './policy-world.ts'
import { people, requestMove, untilReport } from './world.ts'

const hours = (count: number) => count * 3_600_000

/** A request that can be approved for ten hours. `pass` lets time pass while no bot runs. */
async function startRequest(keys = '') {
  const world = await startWorldUnder(`rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h${keys} }`, {
    staff: ({ userGroups }) => void userGroups.push({ id: 'S0LEADS00', handle: 'leads', name: 'Leads', members: [finn] }),
  })
  const { card } = await requestMove(world)
  const { id } = await onlyRequest(world.records)
  const pass = (count: number) => restart(world, () => world.records.shiftTimes(id, hours(count)))
  return { world, card, pass }
}

describe('a reminder of a request that waits', () => {
  test('comes at half and at nine tenths of the time, each once across restarts, and then the request expires while no bot runs', async () => {
    const { world, card, pass } = await startRequest()

    await pass(5.5)
    const half = await untilReport(world.slack, card.ts, /<!subteam\^S0ONCALL01> .*needs approval/)
    await pass(1)
    await pass(3)
    const last = await world.slack.until(() => repliesTo(world, card)[1])
    await pass(1)
    await untilReport(world.slack, card.ts, /<@U0ADA00001> .*Expired.*Not approved/)

    expect([half.text, last.text]).toEqual([expect.stringContaining(' 4\u00a0h'), expect.stringContaining(' 30\u00a0min')])
    expect(repliesTo(world, card)).toHaveLength(3)
    expect((await world.records.audit()).map(({ act }) => act)).toEqual(['request', 'remind', 'remind', 'expire'])
  })
})

describe('an escalation of a request that waits', () => {
  const leadsAndDov = `, escalate: { after: 1h, to: [S0LEADS00, U0DOV00001, ${people.ada}] }`
  const mentions = (text: string | undefined) => text?.match(/<[@!][^>]+>/g)

  test('calls its people when their time has come, once across restarts, and nobody before', async () => {
    const { world, card, pass } = await startRequest(leadsAndDov)
    expect(mentions(card.text)).toEqual([`<@${people.ada}>`, '<!subteam^S0ONCALL01>', expect.stringMatching(/^<!date/)])

    await pass(0.9)
    await pass(0.6)
    const call = await untilReport(world.slack, card.ts, /needs approval/)
    await pass(1)
    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(call.text).toMatch(/^:hourglass\S+ .* needs approval, 8\sh 30\smin left\./)
    expect(mentions(call.text)).toEqual(['<@U0DOV00001>', '<!subteam^S0ONCALL01>', '<!subteam^S0LEADS00>'])
    expect(repliesTo(world, card)).toHaveLength(2)
    expect(cardNow(world, card)?.text).toContain(finn)
    const acts = (await world.records.audit()).map(({ act }) => act)
    expect(acts.slice(0, 3)).toEqual(['request', 'escalate', 'approve'])
  })
})
