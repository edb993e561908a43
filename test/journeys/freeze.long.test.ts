import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { freezeMessageId } from '../../src/record/freeze.ts'
import { changedFacts, factsOf } from '../given/signatures.ts'
import { buttonsOf, freeze, notes, saidIn, start, unfreeze, untilSaid } from './freeze-world.ts'
import { cardNow, finn, repliesTo, restart } from './policy-world.ts'
import { approveHeld, general, ops, patchesOf, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

describe('a freeze', () => {
  test('is replaced by the next one, also by one that ends earlier, and only the end of the last one is announced', async () => {
    const world = await start()
    const first = await freeze(world, 'until in 6s because of the sale')
    await world.ben.command('/infra freeze until in 2s because of the sale', { channel: ops })
    await untilSaid(world, ops, /It replaces another freeze\./)
    await untilSaid(world, ops, /The freeze is over/)
    await world.slack.until(() => buttonsOf(cardNow(world, first)).length === 0)
    await wait(5_000)

    expect(saidIn(world, ops, /The freeze is over/)).toHaveLength(1)
  })
})

describe('while everything is frozen', () => {
  test('a key that was made before is deleted, if Slack does not show it', async () => {
    const world = await start()
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /ci-deploy.*needs approval from/s), 'Approve')
    const card = await untilCard(world.slack, /\*Approved\.\*/)
    world.accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'delay', delayMs: 3_000 })
    world.slack.faults.add({
      method: 'response_url',
      kind: 'status',
      status: 404,
      when: (args) => JSON.stringify(args).includes('new API key'),
    })
    world.slack.faults.add({ method: 'chat.postEphemeral', kind: 'error', error: 'user_not_in_channel', times: 1 })
    const clicked = world.ada.click(card, 'Create key')
    await expect.poll(() => world.accountApi.journal.writes().length).toBe(1)
    await freeze(world)
    await clicked

    await untilReport(world.slack, card.ts, /Failed/)
    expect(world.accountApi.journal.writes().map(({ method }) => method)).toEqual(['POST', 'DELETE'])
  })

  test('a creation whose answer is lost is looked for, and deleted', async () => {
    const world = await start({
      timings: { ...usualTimings, handoverMs: 3_000, graceMs: 600, unsettledMs: 600 },
    })
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /ci-deploy.*needs approval from/s), 'Approve')
    const card = await untilCard(world.slack, /\*Approved\.\*/)
    world.accountApi.faults.add({ method: 'POST', path: /api_keys/, kind: 'drop-after', times: 1 })
    await world.ada.click(card, 'Create key')
    await untilShown(world.slack, people.ada, /hasn't confirmed this/)
    await freeze(world)

    await untilReport(world.slack, card.ts, /Failed|deleted/)
    expect(world.accountApi.journal.writes().map(({ method }) => method)).toEqual(['POST', 'DELETE'])
  })
})

describe('a record of the freeze that cannot be believed', () => {
  test('freezes everything until that is lifted, which the operators are told once', async () => {
    const world = await start()
    const { redis, keys } = world.records
    await freeze(world)
    await unfreeze(world)
    await untilSaid(world, ops, /\*Unfrozen\*/)
    const older = (await redis.get(keys.freeze)) ?? ''
    await freeze(world)
    await unfreeze(world)
    await expect.poll(async () => (await notes(world)).length).toBe(4)
    const cases: [() => Promise<unknown>, RegExp][] = [
      [() => redis.del(keys.freeze), /\*Frozen\* by Lockkeeper because the record of freezes in Redis was gone, until lifted/],
      [() => redis.set(keys.freeze, older), /was older than one read before/],
      [() => redis.set(keys.freeze, '{"isOn":false}'), /wasn't one that Lockkeeper wrote/],
    ]
    for (const [skip, [spoil, words]] of cases.entries()) {
      await spoil()
      const { card, elasticIp } = await requestMove(world, { skip })
      await approveHeld(world, world.ben, card)
      await untilCard(world.slack, new RegExp(`${elasticIp.address}.*Approved\\.\\* Held by a freeze until lifted`, 's'))
      await untilSaid(world, general, words)
      expect(patchesOf(world)).toHaveLength(skip)
      await unfreeze(world)
      await untilReport(world.slack, card.ts, /Done/)
      expect(saidIn(world, general, words)).toHaveLength(1)
    }
  })

  test('is not told to a channel that somebody else chose', async () => {
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
})

test('where Redis lost its data, Lockkeeper freezes everything by itself, until lifted', async () => {
  const world = await start()
  const { redis, keys } = world.records
  await requestMove(world)
  await redis.del(...(await redis.keys(`${keys.queuePrefix}*`)))
  const notice = await untilSaid(world, general, /Redis lost Lockkeeper's data/)
  expect(notice.text).toContain('Lockkeeper has frozen all changes: none starts until somebody uses `/infra unfreeze`.')

  const { card } = await requestMove(world, { skip: 1 })
  await approveHeld(world, world.ben, card)
  await untilCard(world.slack, /Approved\.\* Held by a freeze until lifted/)
  await restart(world)
  await wait(3_000)
  expect(patchesOf(world)).toEqual([])
  await world.slack.as(finn).command('/infra unfreeze', { channel: ops })
  await untilShown(world.slack, finn, /can freeze or unfreeze changes/)

  await unfreeze(world)
  await untilReport(world.slack, card.ts, /Done/)
  expect(await notes(world)).toMatchObject([
    { act: 'freeze', causes: [{ code: 'data-lost' }] },
    { act: 'unfreeze', by: people.ben },
  ])
  expect(repliesTo(world, card)).toHaveLength(1)
})
