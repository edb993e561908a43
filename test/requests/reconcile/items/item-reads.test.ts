import { expect, test } from 'vitest'
import { createEvacuation } from '../../../../src/features/ip-evacuate.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { createItemReads } from '../../../../src/requests/items.ts'
import { requestFor } from '../../request-for-test.ts'
import { accountWith, from, to } from './items-for-test.ts'

const ids = ['eip_0', 'eip_1']

/** The reads of a pass that began at 0 ms, with a clock that the test sets. `readMs`: how long each read of the account takes. */
async function withReads({ readMs = 0 } = {}) {
  const account = accountWith(ids)
  const clock = { ms: 0 }
  const change = createEvacuation({ accountApi: account.api, seen: { find: async () => [] } })
  const { facts, input } = await change.preflight({ serverId: from.id, targetId: to.id, elasticIpIds: ids }, {})
  const catalog = createCatalog([change])
  const request = requestFor({ kind: change.kind, input, facts, seen: facts, sentAt: 0 })
  const opened = catalog.open(request)
  const read = createItemReads({ beganAt: 0, opened, waiting: new Set(ids), now: async () => clock.ms, onApiError: () => {} })
  const list = account.api.elasticIps.list
  account.api.elasticIps.list = async (...options) => {
    const found = await list(...options)
    clock.ms += readMs
    return found
  }
  account.lists = 0
  const [first, second] = catalog.itemsOf(opened)
  if (!first || !second) throw new Error('there are no items')
  return { account, clock, read, first, second }
}

test('the reads before the first write count for 10 s', async () => {
  const { account, clock, read, first } = await withReads()
  clock.ms = 5_000

  expect(await read(first)).toMatchObject({ is: 'unchanged', notAfter: 20_000 })
  expect(account.lists).toBe(0)
})

test('older ones are repeated once for all items that ask at the same time', async () => {
  const { account, clock, read, first, second } = await withReads()
  clock.ms = 10_001
  account.serverOf.set('eip_1', 'sv_3')

  const results = await Promise.all([read(first), read(second)])

  expect(results).toMatchObject([
    { is: 'unchanged', notAfter: 30_001 },
    { is: 'changed', causes: [{ code: 'not-on-server' }] },
  ])
  expect(account.lists).toBe(1)
})

test('an account that cannot be read is reported, and is read again', async () => {
  const { account, clock, read, first } = await withReads()
  const { get } = account.api.servers
  account.api.servers.get = async () => Promise.reject(new TypeError('no network'))
  clock.ms = 11_000
  await expect(read(first)).rejects.toThrow('no network')

  account.api.servers.get = get
  expect(await read(first)).toMatchObject({ is: 'unchanged' })
})
