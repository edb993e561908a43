import { describe, expect, test } from 'vitest'
import { alert, resolved, startAlertWorld, untilProposed } from './alerts-world.ts'
import { steady } from './policy-world.ts'
import { ops, untilCard, untilReport } from './world.ts'

const botMessages = (world: { slack: { messages: (channel: string) => { isBot: boolean; text: string; ts: string }[] } }) =>
  world.slack.messages(ops).filter(({ isBot }) => isBot)

describe('a firing alert', () => {
  test('proposes to evacuate its server, and people approve it', async () => {
    const world = await startAlertWorld()

    expect(await world.send([alert()])).toBe(200)
    const card = await untilProposed(world)

    expect(steady(card.text)).toMatchInlineSnapshot(`
      "Evacuate web-1 → web-2: 1 Elastic IP
      Alertmanager needs approval from <!subteam^S0ONCALL01> by TIME (4 h).
      Reason: \`web-1:9100 is down\`
      Project: Storefront
      Site: ASH
      •  \`203.0.113.10\`  eip_2BJYBkPZR5x1t
      From \`sv_TU8nZb2v5QZal\`  ·  To \`sv_3yuLZoyuzy2cj\`, \`198.51.100.22\`  ·  Request \`ID\`
      Alert \`NodeDown\`, <http://prometheus.example.com:9090/graph?g0.expr=up+%3D%3D+0&amp;g0.tab=1|open it> (\`prometheus.example.com:9090\`)"
    `)
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)
    expect(report.text).toMatchInlineSnapshot(`
      "<@U0BEN00001> :large_green_circle: *Done.* 1 Elastic IP is assigned to \`web-2\`.
      :large_green_circle: \`203.0.113.10\`  moved"
    `)
  })

  test('is a duplicate when it is repeated, also with another start', async () => {
    const world = await startAlertWorld()
    await world.send([alert()])
    await untilProposed(world)

    expect(await world.send([alert()])).toBe(200)
    expect(await world.send([alert({}, { startsAt: '2026-11-22T04:00:00.000Z' })])).toBe(200)

    expect(botMessages(world)).toHaveLength(1)
    expect(await world.records.all()).toHaveLength(1)
  })
})

describe('a resolved alert', () => {
  test('withdraws the request that nobody has decided', async () => {
    const world = await startAlertWorld()
    await world.send([alert()])
    await untilProposed(world)

    expect(await world.send([resolved(alert())])).toBe(200)

    const card = await untilCard(world.slack, /\*Withdrawn\*/)
    expect(steady(card.text)).toMatchInlineSnapshot(`
      ":leftwards_arrow_with_hook: *Withdrawn*  ·  Evacuate \`web-1\` → \`web-2\`: 1 Elastic IP. The alert resolved. Nothing was done.
      Requested by Alertmanager  ·  TIME  ·  Request \`ID\`"
    `)
    expect(world.slack.thread(ops, card.ts)).toHaveLength(1)
  })
})
