import { expect, test } from 'vitest'
import { people, requestMove, startWorld, untilReport, untilShown } from '../journeys/world.ts'

test("a member without rights who clicks again and again does not spend Slack's limit of reads, and an approver can approve", async () => {
  const world = await startWorld({ slack: { limits: true } })
  world.slack.setUserGroup('S0ONCALL01', [people.ben])
  const { card } = await requestMove(world)
  const readsBefore = world.slack.calls('usergroups.users.list').length

  for (let click = 0; click < 30; click += 1) await world.chiara.click(card, 'Approve')
  await world.slack.until(() => world.slack.ephemerals(people.chiara).length === 30)
  await untilShown(world.slack, people.chiara, /You aren't an approver of this/)
  expect(world.slack.calls('usergroups.users.list').length - readsBefore).toBeLessThanOrEqual(1)
  await world.ben.click(card, 'Approve')

  await untilReport(world.slack, card.ts, /Done/)
})
