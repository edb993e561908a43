import { expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { createLastChanges } from '../../../src/requests/lifecycle/last-changes.ts'
import { minutes, requestedAt, requestFor } from '../request-for-test.ts'

const hour = 60 * minutes

function ended(id: string, agoMs: number): Request {
  return requestFor({ id, state: 'done', endedAt: requestedAt - agoMs })
}

/** Finds what changed before a request of these resources. `last`: the last change of each, by resource. */
async function before(last: Record<string, Request>, { changed = '' } = {}) {
  const find = createLastChanges({
    signatures: { verifyRecord: ({ id }: { id: string }) => (id === changed ? 'changed' : 'genuine') } as never,
    store: { lastChangesOf: async (resources) => [...new Set(resources.flatMap((resource) => last[resource] ?? []))] },
  })
  const found = await find(
    requestedAt,
    'server:sv_1',
    Object.keys(last).filter((resource) => resource !== 'server:sv_1'),
  )
  return found.map(({ requestId }) => requestId)
}

test('approvers know the last change of the server, however old, and the recent ones of its addresses, the latest first', async () => {
  const both = ended('both', 2 * hour)
  expect(
    await before({ 'server:sv_1': ended('own', 300 * hour), a: both, b: both, c: ended('latest', hour), d: ended('old', 25 * hour) }),
  ).toEqual(['own', 'latest', 'both'])
})

test('a change that is about both is named once, and a record that somebody changed is left out', async () => {
  const own = ended('own', hour)
  expect(await before({ 'server:sv_1': own, a: own, b: ended('forged', hour) }, { changed: 'forged' })).toEqual(['own'])
})

test('of many changes the latest five are named', async () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`eip_${index}`, ended(`r${index}`, index * minutes)]))
  expect(await before(many)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
})
