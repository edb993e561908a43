import { expect, test } from 'vitest'
import { ApiContractError, ApiError } from '../../../src/domain/errors/api-errors.ts'
import { type Reply, rejection, startClient } from '../recording-server.ts'

function numbered(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: `sv_${from + index}`, attributes: { hostname: `web-${from + index}` } }))
}

function pageNumber({ target }: { target: string }): number {
  return Number(new URLSearchParams(target.split('?')[1]).get('page[number]'))
}

/** Answers for `total` items with at most `maxPageSize` items per page, also if the request names another page size. */
function serverWith(total: number, maxPageSize: number): (request: { target: string }) => Reply {
  return (request) => {
    const start = (pageNumber(request) - 1) * maxPageSize
    return { json: { data: numbered(start, Math.max(0, Math.min(maxPageSize, total - start))) } }
  }
}

test('reads on after a short page, because a server may return fewer items than requested', async () => {
  const { api, requests } = await startClient(serverWith(50, 20))

  const servers = await api.servers.list()

  expect(servers).toHaveLength(50)
  expect(requests.map(pageNumber)).toEqual([1, 2, 3, 4])
})

test.each([
  [1_000, 11],
  [2_000, 22],
  [10_000, 110],
])('reads a list of %i items with at most a tenth more requests than pages', async (total, most) => {
  const { api, requests } = await startClient(serverWith(total, 100))

  const servers = await api.servers.list()

  expect(servers.map(({ id }) => id)).toEqual(numbered(0, total).map(({ id }) => id))
  expect(requests.length).toBeGreaterThan(total / 100)
  expect(requests.length).toBeLessThanOrEqual(most)
})

test('lists an item once that appears on two pages because rows shifted', async () => {
  const pages = [numbered(0, 3), numbered(2, 3), []]
  const { api } = await startClient((request) => ({ json: { data: pages[pageNumber(request) - 1] } }))

  expect((await api.servers.list()).map(({ id }) => id)).toEqual(['sv_0', 'sv_1', 'sv_2', 'sv_3', 'sv_4'])
})

test('stops when a server ignores the page number', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [...numbered(0, 3), 'broken'] } }))

  expect(await api.servers.list()).toHaveLength(3)
  expect(requests).toHaveLength(2)
})

test('reads on after a page with only invalid items', async () => {
  const pages = [['broken', 'too'], numbered(0, 1), []]
  const { api } = await startClient((request) => ({ json: { data: pages[pageNumber(request) - 1] } }))

  expect(await api.servers.list()).toHaveLength(1)
})

test('throws ApiContractError for a list without an end', async () => {
  const { api, requests } = await startClient((request) => ({ json: { data: numbered(pageNumber(request), 1) } }))

  const error = await rejection(api.servers.list())

  expect(error).toBeInstanceOf(ApiContractError)
  expect(requests.length).toBeLessThan(1_010)
})

test('throws when one page fails, instead of returning part of the list', async () => {
  const { api } = await startClient((request) => (pageNumber(request) === 2 ? { status: 403 } : { json: { data: numbered(0, 100) } }))

  expect(await rejection(api.servers.list())).toBeInstanceOf(ApiError)
})
