import { expect, test } from 'vitest'
import { buttonValue, cardButtons } from '../../src/messages/button-ids.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { bring, refused, startQuietWorld } from './clicks.ts'
import { cardOf } from './records.ts'
import { wordsIn } from './subject.ts'
import { general, ops, people } from './world.ts'

test('a button that the bot did not make like this is refused with a separate message, changes nothing, and is in the audit', async () => {
  const world = await startQuietWorld()
  const { slack, records, ben } = world
  slack.invite(general)
  const waiting = { state: 'waiting' as const, steps: [] }
  const [request, other] = [await bring(world, waiting, 'requester'), await bring(world, waiting, 'requester')]
  const { id, hash } = request
  const elsewhere = await records.post(general, [])
  const again = await records.post(ops, [])
  const forged: Record<string, Message> = {
    'an edited hash': cardOf(request, { value: buttonValue({ id, hash: '0'.repeat(64) }) }),
    'the hash of another request': cardOf(request, { value: buttonValue({ id, hash: other.hash }) }),
    'the id of another request': cardOf(request, { value: buttonValue({ id: other.id, hash }) }),
    'the whole button of another request': cardOf(request, { value: buttonValue(other) }),
    'no hash': cardOf(request, { value: `1.${id}` }),
    'another version': cardOf(request, { value: buttonValue(request).replace(/^1/, '2') }),
    garbage: cardOf(request, { value: '{"id":"*"}' }),
    nothing: cardOf(request, { value: '' }),
    'copied to another message': cardOf(request, { ts: again }),
    'copied to another channel': cardOf(request, { channel: general, ts: elsewhere }),
  }

  const answers: string[] = []
  for (const [what, card] of Object.entries(forged)) {
    for (const button of ['approve', 'reject', 'again'] as const) {
      const before = slack.ephemerals(people.ben).length
      await ben.click(card, cardButtons[button])
      const said = await slack.until(() => {
        const ephemeral = slack.ephemerals(people.ben)[before]?.text
        return ephemeral ?? (ben.topView().title === refused ? wordsIn(ben.topView().view) : undefined)
      })
      for (const view of ben.openViews()) await ben.close(view)
      answers.push(`${what}: ${said}`)
    }
  }

  const changed = 'This button belongs to another request, or was changed, so nothing was done. Use the request message.'
  const misplaced = "This button isn't on the request message, so nothing was done. Use that message."
  const isMisplaced = (what: string) => what.startsWith('copied') || what.startsWith('the whole')
  expect([...new Set(answers)]).toEqual(Object.keys(forged).map((what) => `${what}: ${isMisplaced(what) ? misplaced : changed}`))
  expect(await records.find(request.id)).toEqual(request)
  expect(await records.find(other.id)).toEqual(other)
  const entries = (await records.audit()).filter(({ act, by }) => act === 'refused' && by === people.ben)
  const noted = entries.map(({ attempted, causes = [], kind }) => `${attempted} ${causes[0]?.code} ${kind ?? 'without a request'}`)
  const buttons = [cardButtons.approve, cardButtons.reject, cardButtons.again]
  // The two requests have an entry each.
  const why = [
    'foreign-button ip.move',
    'foreign-button ip.move',
    'stale-card ip.move',
    'foreign-button without a request',
    'stale-card ip.move',
  ]
  expect(noted).toEqual(why.flatMap((cause) => buttons.map((button) => `${button} ${cause}`)))
})

test('a record that somebody has changed in Redis cannot be approved', async () => {
  const elsewhere = JSON.stringify({ elasticIpId: 'eip_2BJYBkPZR5x1t', serverId: 'sv_0000000000' })
  const world = await startQuietWorld()
  const { slack, records } = world
  const request = await bring(world, { state: 'waiting', steps: [] }, 'requester')
  await records.redis.hset(records.keys.record(request.id), 'input', elsewhere)

  await world.ben.click(cardOf(request), cardButtons.approve)

  const said = await slack.until(() => slack.ephemerals(people.ben)[0]?.text)
  expect(said).toMatch(/^\*Unverified request .*\nThe record of this request was changed, so nothing was done\./)
  expect(await records.find(request.id)).toMatchObject({ state: 'waiting', approvals: [] })
  expect((await records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben, requestId: request.id })
})
