import { describe, expect, test } from 'vitest'
import { expectRefused, faultsOf, refusedTo, shareGuardedWorld, tryAll, unwelcome } from './gate.ts'
import { openRecords } from './records.ts'

describe('the gate', () => {
  const { current, acts } = shareGuardedWorld()

  test.each(unwelcome.slice(1))('refuses $who, for every act', async (each) => {
    await expectRefused(current(), refusedTo(each, acts()), each)
  })

  test('lets full members through with every act, so that none is refused for another reason', async () => {
    const world = current()
    const before = world.accountApi.journal.length

    const tried = await tryAll(world, acts(), { mark: 'FULL', person: {} }, 500)

    const entries = await openRecords(world).audit()
    const unnoticed = tried.filter((one) => faultsOf(one, entries, /can't use Lockkeeper/).length === 0)
    expect(unnoticed.map(({ act }) => act.name)).toEqual([])
    await expect.poll(() => world.accountApi.journal.length).toBeGreaterThan(before)
  })
})
