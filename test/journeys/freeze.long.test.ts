import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { freezeMessageId } from '../../src/record/freeze.ts'
import { changedFacts, factsOf } from '../given/signatures.ts'
import { buttonsOf, freeze, saidIn, start, untilSaid } from './freeze-world.ts'
import { cardNow, type PolicyWorld } from './policy-world.ts'
import { approvedKey, ops, untilReport } from './world.ts'

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
