import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account-api/client.ts'
import { createInventory } from '../../src/account-api/inventory.ts'

/** Creates the lists over an account API whose reads are answered by the test. */
function createLists() {
  const reads: { answer: (names: string[]) => void; fail: () => void }[] = []
  let now = 0
  const list = () =>
    new Promise<unknown[]>((resolve, reject) => {
      reads.push({ answer: (names) => resolve(names.map((name) => ({ id: name }))), fail: () => reject(new Error('away')) })
    })
  const accountApi = { elasticIps: { list }, servers: { list }, virtualMachines: { list } } as unknown as AccountApi
  const inventory = createInventory(accountApi, () => now)
  const names = async () => (await inventory.virtualMachines()).map(({ id }) => id)
  const wait = (ms: number) => {
    now += ms
  }
  return { reads, inventory, names, wait }
}

describe('the lists that people pick from', () => {
  test('share one read between parallel calls, and reuse its result', async () => {
    const { reads, names } = createLists()
    const both = [names(), names()]
    reads[0]?.answer(['vm_1zHfNurvp25kg'])

    expect(await Promise.all(both)).toEqual([['vm_1zHfNurvp25kg'], ['vm_1zHfNurvp25kg']])
    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    expect(reads).toHaveLength(1)
  })

  test('return an older copy while a new one is read', async () => {
    const { reads, names, wait } = createLists()
    const first = names()
    reads[0]?.answer(['vm_1zHfNurvp25kg'])
    await first
    wait(60_000)

    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    reads[1]?.answer(['vm_1zHfNurvp25kg', 'vm_2sMUCJzOnrmNC'])
    await new Promise(setImmediate)

    expect(await names()).toEqual(['vm_1zHfNurvp25kg', 'vm_2sMUCJzOnrmNC'])
    expect(reads).toHaveLength(2)
  })

  test('throw the error of a failed read when the copy is too old', async () => {
    const { reads, names, wait } = createLists()
    const first = names()
    reads[0]?.answer(['vm_1zHfNurvp25kg'])
    await first
    wait(600_000)

    const second = names()
    reads[1]?.fail()

    await expect(second).rejects.toThrow('away')
  })

  test('can be read in advance, and a read after a failure tries again', async () => {
    const { reads, inventory, names } = createLists()
    const failed = inventory.prefetch('virtualMachines')
    reads[0]?.fail()
    await expect(failed).rejects.toThrow('away')
    const read = inventory.prefetch('virtualMachines')
    reads[1]?.answer(['vm_1zHfNurvp25kg'])
    await read

    expect(await names()).toEqual(['vm_1zHfNurvp25kg'])
    expect(reads).toHaveLength(2)
  })
})
