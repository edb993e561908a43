import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account-api/client.ts'
import { createInventory } from '../../src/account-api/inventory.ts'

/** An account API whose lists are answered by hand. */
function byHand() {
  const asked: { answer: (names: string[]) => void; fail: () => void }[] = []
  let now = 0
  const list = () =>
    new Promise<unknown[]>((resolve, reject) => {
      asked.push({ answer: (names) => resolve(names.map((name) => ({ id: name }))), fail: () => reject(new Error('away')) })
    })
  const accountApi = { elasticIps: { list }, servers: { list }, virtualMachines: { list } } as unknown as AccountApi
  const inventory = createInventory(accountApi, () => now)
  const names = async () => (await inventory.virtualMachines()).map(({ id }) => id)
  const wait = (ms: number) => {
    now += ms
  }
  return { asked, inventory, names, wait }
}

describe('the lists to pick from', () => {
  test('are read once for all who ask meanwhile, and kept for a while', async () => {
    const { asked, names } = byHand()
    const both = [names(), names()]
    asked[0]?.answer(['vm_1zHfNurvp25kg'])

    expect(await Promise.all(both)).toEqual([['vm_1zHfNurvp25kg'], ['vm_1zHfNurvp25kg']])
    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    expect(asked).toHaveLength(1)
  })

  test('are answered from an older copy while a new one is read', async () => {
    const { asked, names, wait } = byHand()
    const first = names()
    asked[0]?.answer(['vm_1zHfNurvp25kg'])
    await first
    wait(60_000)

    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    asked[1]?.answer(['vm_1zHfNurvp25kg', 'vm_2sMUCJzOnrmNC'])
    await new Promise(setImmediate)

    expect(await names()).toEqual(['vm_1zHfNurvp25kg', 'vm_2sMUCJzOnrmNC'])
    expect(asked).toHaveLength(2)
  })

  test('too old a copy is not used: the failure is told', async () => {
    const { asked, names, wait } = byHand()
    const first = names()
    asked[0]?.answer(['vm_1zHfNurvp25kg'])
    await first
    wait(600_000)

    const second = names()
    asked[1]?.fail()

    await expect(second).rejects.toThrow('away')
  })

  test('can be read before anybody asks, and a failure of that harms nobody', async () => {
    const { asked, inventory, names } = byHand()
    inventory.prefetch('virtualMachines')
    asked[0]?.fail()
    await new Promise(setImmediate)
    inventory.prefetch('virtualMachines')
    asked[1]?.answer(['vm_1zHfNurvp25kg'])

    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    expect(asked).toHaveLength(2)
  })
})
