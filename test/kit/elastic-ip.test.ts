import { expect, test } from 'vitest'
import { sentBefore } from '../../src/kit/elastic-ip.ts'
import { fakeApp } from '../fake-app.ts'
import { minutes, requestFor } from '../given/request.ts'
import { seenOnWeb1 } from '../given/seen.ts'

const now = 1_000 * minutes
const stray = { id: 'eip_1', address: '203.0.113.1' }

/** Where the address may be, by the ids of the servers. `seenAt`: when Lockkeeper saw it on `web-1`. */
async function sentTo({ resource = 'elastic_ip:eip_1', moreResources = [] as string[], seenAt = 0 } = {}): Promise<string[]> {
  const stopped = requestFor({
    ...{ state: 'untracked', resource, moreResources, sentAt: now - 60 * minutes, endedAt: now - 50 * minutes },
  })
  const app = fakeApp({
    store: { lastChangesOf: async () => new Map([['elastic_ip:eip_1', stopped]]), now: async () => now },
    catalog: { targetOf: () => ({ id: 'sv_2', name: 'web-2' }) },
    signatures: { verifyRecord: () => 'genuine' },
    assignments: { find: async (fits) => [{ ...seenOnWeb1(1, 0), at: seenAt }].filter(fits) },
  })
  return (await sentBefore(app, [stray])).map(({ serverId }) => serverId)
}

test('an address may be where a change sent it or all of its evacuation, and not where one sent another', async () => {
  expect(await sentTo()).toEqual(['sv_2'])
  expect(await sentTo({ resource: 'evacuation:sv_1', moreResources: ['elastic_ip:eip_1'] })).toEqual(['sv_2'])
  expect(await sentTo({ resource: 'elastic_ip:eip_9', moreResources: ['elastic_ip:eip_8'] })).toEqual([])
})

test('an address that was seen on another server after the end of the change is not where it was sent', async () => {
  expect(await sentTo({ seenAt: now - 51 * minutes })).toEqual(['sv_2'])
  expect(await sentTo({ seenAt: now - 49 * minutes })).toEqual([])
})
