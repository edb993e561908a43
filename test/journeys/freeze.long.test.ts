import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { createFreezes, freezeMessageId } from '../../src/record/freeze.ts'
import { changedFacts, factsOf } from '../given/signatures.ts'
import { buttonsOf, freeze, saidIn, start, untilSaid } from './freeze-world.ts'
import { cardNow, type PolicyWorld } from './policy-world.ts'
import { approvedKey, general, ops, people, untilReport } from './world.ts'

test('a freeze is replaced by the next one, also by one that ends earlier, and only the end of the last one is announced', async () => {
  const world = await start()
  const first = await freeze(world, 'until in 6s because of the sale')
  await world.ben.command('/infra freeze until in 2s because of the sale', { channel: ops })
  await untilSaid(world, ops, /It replaces the one by <@\w+> until <!date/)
  await untilSaid(world, ops, /The freeze is over/)
  await world.slack.until(() => buttonsOf(cardNow(world, first)).length === 0)
  await wait(5_000)

  expect(saidIn(world, ops, /The freeze is over/)).toHaveLength(1)
})

test.each([
  ['ends before the planned one begins', 3_500, [/freeze is over.* stays/, /freeze is on/, /freeze is over\.\* [^.]*\.$/]],
  ['ends while the planned one is on', 8_000, [/freeze is on/, /freeze is over\.\* [^.]*\.$/]],
])('of two freezes, the first of which %s, each end says what is true', async (_, firstMs, said) => {
  const world = await start()
  const [now, by] = [await world.records.store.now(), { by: people.ben, reason: 'the sale', channelId: ops }]
  const freezes = createFreezes({ ...world.records, audit: world.records.chained }, world.recordKeyring, { opsChannel: general })
  await freezes.set({ ...by, from: now + 5_000, until: now + 11_000 })
  const planned = await untilSaid(world, ops, /Freeze planned/)
  await freezes.set({ ...by, until: now + firstMs })
  const first = await untilSaid(world, ops, /\*(?:Was f|F)rozen\* by <@\w+> until/)
  await wait(now + 13_000 - Date.now())

  const after = saidIn(world, ops, /freeze is|frozen/i)
    .filter(({ ts }) => ts !== planned.ts)
    .map(({ text }) => text)
  // The bot may post a message that is due later before one of the same moment.
  const expected = [/\*Was frozen\*/, ...said].map((each) => expect.stringMatching(each))
  expect(after).toHaveLength(expected.length)
  expect(after).toEqual(expect.arrayContaining(expected))
  for (const message of [planned, first]) expect(buttonsOf(cardNow(world, message))).toEqual([])
})

const hidesKeys = (world: PolicyWorld) => {
  world.accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'delay', delayMs: 3_000 })
  const when = (args: object) => JSON.stringify(args).includes('new API key')
  world.slack.faults.add({ method: 'response_url', kind: 'status', status: 404, when })
  world.slack.faults.add({ method: 'chat.postEphemeral', kind: 'error', error: 'user_not_in_channel', times: 1 })
}

test.each<[what: string, lose: (world: PolicyWorld) => unknown]>([
  ['a key that was made before, and that Slack does not show', hidesKeys],
  [
    'a key whose creation got no answer',
    ({ accountApi }) => accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'drop-after', times: 1 }),
  ],
])('while everything is frozen, %s is deleted', async (_, lose) => {
  const world = await start({ timings: { ...usualTimings, handoverMs: 3_000, graceMs: 600, unsettledMs: 600 } })
  const card = await approvedKey(world)
  lose(world)
  const clicked = world.ada.click(card, 'Create key')
  await expect.poll(() => world.accountApi.journal.writes().length).toBe(1)
  await freeze(world)
  await clicked

  await untilReport(world.slack, card.ts, /Failed|deleted/)
  expect(world.accountApi.journal.writes().map(({ method }) => method)).toEqual(['POST', 'DELETE'])
})

test('a message about a freeze that somebody changed is not told to the channel that they chose', async () => {
  const world = await start()
  const { redis, keys } = world.records
  await freeze(world)
  const stored = (await redis.get(keys.freeze)) ?? ''
  const id = freezeMessageId(factsOf(stored).id, 'set', 'here')
  await redis.hset(keys.message(id), 'facts', changedFacts(stored, { channelId: 'C0MPDM0001' }))
  await redis.hdel(keys.message(id), 'outbox:freeze')
  await redis.zadd(keys.outbox, 1, `${id}/freeze`)
  await expect.poll(() => redis.exists(keys.message(id))).toBe(0)
  expect(world.slack.messages('C0MPDM0001')).toEqual([])
})
