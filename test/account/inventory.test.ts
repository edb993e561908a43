import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { createInventory, type ListName } from '../../src/account/inventory.ts'
import { findInList } from '../../src/account/resource.ts'
import { AccountLimitError, ApiError, ApiUnreachableError } from '../../src/domain/errors.ts'
import type { List } from '../../src/domain/list.ts'
import { createKeyring } from '../../src/domain/signing.ts'
import { connectTestRedis } from '../given/redis.ts'
import { secretsOf } from '../given/signatures.ts'
import { wholeList } from '../whole-list.ts'

const limited = new AccountLimitError({ operation: 'servers.list', kind: 'read', waitMs: 20_000, perMinute: 60, answered: false })
const away = new ApiUnreachableError({ operation: 'servers.list', requestSent: 'no', problem: 'ECONNREFUSED' })

/** Processes that share one Redis, over an account whose reads the test answers. Its clock is that of the processes. */
function setUp() {
  const { redis, keys, prefix } = connectTestRedis()
  const reads: { answer: (names: string[], missing?: Partial<List<unknown>>) => void; fail: (error: unknown) => void }[] = []
  const list = () =>
    new Promise<List<unknown>>((resolve, reject) => {
      const answer = (names: string[], missing = {}) =>
        resolve({ ...wholeList(names.map((id) => ({ id, hostname: undefined }))), ...missing })
      reads.push({ answer, fail: reject })
    })
  const names: ListName[] = ['elasticIps', 'servers', 'virtualMachines', 'plans', 'baselines', 'apiKeys']
  const accountApi = Object.fromEntries(names.map((name) => [name, { list }])) as unknown as AccountApi
  let later = 0
  const now = () => performance.now() + later

  function start() {
    const keyring = createKeyring(secretsOf('a-key-for-tests-of-32-characters'), { purpose: 'records', prefix })
    const inventory = createInventory({ accountApi, redis, keys, keyring, now })
    const ids = async () => (await inventory.servers()).items.map(({ id }) => id)
    return { ...inventory, ids }
  }
  const nextRead = async (count: number) => {
    await expect.poll(() => reads.length).toBe(count)
    return reads[count - 1] as (typeof reads)[number]
  }
  /** Starts a process that has read this list. */
  async function startWith(names: string[]) {
    const process = start()
    const first = process.ids()
    ;(await nextRead(reads.length + 1)).answer(names)
    await first
    return process
  }
  return { redis, copy: keys.list('servers').copy, reads, nextRead, start, startWith, wait: (ms: number) => (later += ms) }
}

describe('a list of the account', () => {
  test('that takes longer than usual to read says nothing about what its last copy lacks', async () => {
    const { nextRead, startWith, wait } = setUp()
    const { servers } = await startWith(['sv_1'])
    wait(20_000)
    const found = ['sv_1', 'sv_2'].map(async (wanted) => findInList(await servers(), ({ id }) => id === wanted))

    const [listed, lacking] = await Promise.allSettled([...found, nextRead(2)])
    expect(listed).toMatchObject({ status: 'fulfilled', value: { id: 'sv_1' } })
    expect(lacking).toMatchObject({ status: 'rejected', reason: expect.any(ApiUnreachableError) })
  })

  test('is read once for all who want it at the same time, in all processes, and for 10 s', async () => {
    const { reads, nextRead, start, wait } = setUp()
    const processes = [start(), start()]
    const all = Promise.all(processes.flatMap(({ ids }) => [ids(), ids()]))
    const first = await nextRead(1)
    first.answer(['sv_1'])

    expect(await all).toEqual([['sv_1'], ['sv_1'], ['sv_1'], ['sv_1']])
    expect(await start().ids()).toEqual(['sv_1'])
    wait(9_000)
    expect(await processes[0]?.ids()).toEqual(['sv_1'])
    expect(reads).toHaveLength(1)

    wait(2_000)
    const again = processes[0]?.ids()
    ;(await nextRead(2)).answer(['sv_1', 'sv_2'])
    expect(await again).toEqual(['sv_1', 'sv_2'])
    expect(await processes[1]?.ids()).toEqual(['sv_1', 'sv_2'])
  })

  test('that another process does not finish is read by the one that waits', async () => {
    const { redis, copy, nextRead, start } = setUp()
    await redis.set(`${copy}:reading`, 'a process that died', 'PX', 300)

    const ids = start().ids()
    ;(await nextRead(1)).answer(['sv_1'])

    expect(await ids).toEqual(['sv_1'])
  })

  test.each([
    ['the limit is reached', limited],
    ['the account API does not answer', away],
  ])('is the last one with its age if %s, for up to 5 minutes', async (_, error) => {
    const { nextRead, startWith, wait } = setUp()
    const process = await startWith(['sv_1'])
    wait(40_000)

    const read = process.servers()
    ;(await nextRead(2)).fail(error)
    expect(await read).toMatchObject({ items: [{ id: 'sv_1' }], old: { agoMs: expect.closeTo(40_000, -3), because: error } })

    wait(5 * 60_000)
    const tooOld = process.servers()
    ;(await nextRead(3)).fail(error)
    await expect(tooOld).rejects.toBe(error)
  })

  test('fails if there is no earlier one, and if the account API refuses it', async () => {
    const { nextRead, start, startWith, wait } = setUp()
    const none = start().servers()
    ;(await nextRead(1)).fail(limited)
    await expect(none).rejects.toBe(limited)

    const process = await startWith(['sv_1'])
    wait(40_000)
    const refused = process.servers()
    const forbidden = new ApiError({ operation: 'servers.list', status: 403, codes: [] })
    ;(await nextRead(3)).fail(forbidden)
    await expect(refused).rejects.toBe(forbidden)
  })

  test('is read by the next one who wants it if the limit of the first one was reached', async () => {
    const { nextRead, start } = setUp()
    const process = start()
    const [first, second] = [process.ids(), process.ids()]
    ;(await nextRead(1)).fail(limited)
    await expect(first).rejects.toBe(limited)
    ;(await nextRead(2)).answer(['sv_1'])

    expect(await second).toEqual(['sv_1'])
  })

  test('that was cut off is kept like a whole one', async () => {
    const { reads, nextRead, start } = setUp()
    const cut = start().servers()
    const items = [{ id: 'sv_1' }]
    ;(await nextRead(1)).answer(['sv_1'], { cut: 'size', isWhole: false })

    const expected = { cut: 'size', isWhole: false, readAt: expect.any(Number), items }
    expect(await cut).toMatchObject(expected)
    expect(await start().servers()).toMatchObject(expected)
    expect(reads).toHaveLength(1)
  })

  test('is read again in all processes after a change of Lockkeeper, and is still the last one if that fails', async () => {
    const { nextRead, start, startWith } = setUp()
    const process = await startWith(['sv_1'])
    const other = start()
    expect(await other.ids()).toEqual(['sv_1'])

    await process.forget('servers')
    const read = other.servers()
    ;(await nextRead(2)).fail(limited)
    expect(await read).toMatchObject({ items: [{ id: 'sv_1' }], old: { because: limited } })
    const again = process.ids()
    ;(await nextRead(3)).answer(['sv_2'])
    expect(await again).toEqual(['sv_2'])
  })

  test('is kept by each process alone while Redis is away', async () => {
    const { redis, nextRead, start, startWith, reads } = setUp()
    const process = await startWith(['sv_1'])
    redis.disconnect()

    expect(await process.ids()).toEqual(['sv_1'])
    const other = start().ids()
    ;(await nextRead(2)).answer(['sv_2'])
    expect(await other).toEqual(['sv_2'])
    expect(reads).toHaveLength(2)
  })
})

describe('somebody with write access to Redis', () => {
  test.each<[how: string, change: (stored: Record<string, string>) => Record<string, string>]>([
    ['cannot change a list', ({ head = '', text = '' }) => ({ head, text: text.replace('sv_1', 'sv_9') })],
    ['cannot give an old list a later time', ({ head = '', text = '' }) => ({ head: head.replace(/"at":\d/, '"at":9'), text })],
    ['cannot write another list', () => ({ head: '{}', text: '{"items":[{"id":"sv_9"}]}' })],
    ['cannot write something else', () => ({ head: 'not json', text: '' })],
  ])('%s', async (_, change) => {
    const { redis, copy, nextRead, start, startWith } = setUp()
    await startWith(['sv_1'])
    await redis.hset(copy, change(await redis.hgetall(copy)))

    const ids = start().ids()
    ;(await nextRead(2)).answer(['sv_2'])
    expect(await ids).toEqual(['sv_2'])
  })

  test('cannot put one list in the place of another', async () => {
    const { redis, copy, nextRead, start, startWith } = setUp()
    await startWith(['sv_1'])
    await redis.hset(copy.replace('servers', 'virtualMachines'), await redis.hgetall(copy))

    const machines = start().virtualMachines()
    ;(await nextRead(2)).answer(['vm_1'])
    expect(await machines).toMatchObject({ items: [{ id: 'vm_1' }] })
  })

  test('cannot make a process forget what it knows, and an older list shows its age', async () => {
    const { redis, copy, nextRead, reads, startWith, wait } = setUp()
    const process = await startWith(['sv_1'])
    const old = await redis.hgetall(copy)
    wait(11_000)
    const again = process.ids()
    ;(await nextRead(2)).answer(['sv_2'])
    await again
    await redis.hset(copy, old)

    expect(await process.ids()).toEqual(['sv_2'])
    expect(reads).toHaveLength(2)
  })
})
