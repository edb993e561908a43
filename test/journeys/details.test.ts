import { expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { people, requestMove, startWorld, untilCard, untilReport, untilShown } from './world.ts'

const details = { action: { action_id: cardButtons.details } }
const time = '<!date\\^\\d+\\^{time_secs}[^>]*> '

test('Details shows the life of a request while it waits, and once it is done', async () => {
  const world = await startWorld()
  const { card } = await requestMove(world)

  await world.chiara.click(card, 'Withdraw', details)
  const waiting = await untilShown(world.slack, people.chiara, new RegExp(`\n${time} Requested by <@${people.ada}>\n`))
  expect(waiting.text).toContain('needs approval from')
  expect(waiting.text).not.toMatch(/ {2}Sent/)

  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  await world.ben.click(await untilCard(world.slack, /\*Done/), 'Details')
  const done = await untilShown(world.slack, people.ben, / {2}Sent/)
  const steps = [`Approved by <@${people.ben}>`, 'Sent', 'Accepted', 'Done']
  expect(done.text).toMatch(new RegExp(steps.map((what) => `${time} ${what}`).join('\n')))
})
