import { expect, test } from 'vitest'
import { ApiContractError, ApiError } from '../../src/domain/errors.ts'
import { type Reply, rejection, startClient } from './recording-server.ts'

function numbered(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: `sv_${from + index}`, attributes: { hostname: `web-${from + index}` } }))
}

function pageNumber({ target }: { target: string }): number {
  return Number(new URLSearchParams(target.split('?')[1]).get('page[number]'))
}

/** A server with so many items that gives at most `clamp` at a time. */
function serverWith(total: number, clamp: number): (request: { target: string }) => Reply {
  return (request) => {
    const start = (pageNumber(request) - 1) * clamp
    return { json: { data: numbered(start, Math.max(0, Math.min(clamp, total - start))) } }
  }
}

test('a short page is not the end: a server may give fewer than were asked for', async () => {
  const { api, requests } = await startClient(serverWith(50, 20))

  const servers = await api.servers.list()

  expect(servers).toHaveLength(50)
  expect(requests.map(pageNumber)).toEqual([1, 2, 3, 4])
})

test.each([
  [1_000, 11],
  [2_000, 22],
  [10_000, 110],
])('a list of %i is read with at most a tenth more requests than it has pages', async (total, most) => {
  const { api, requests } = await startClient(serverWith(total, 100))

  const servers = await api.servers.list()

  expect(servers.map(({ id }) => id)).toEqual(numbered(0, total).map(({ id }) => id))
  expect(requests.length).toBeGreaterThan(total / 100)
  expect(requests.length).toBeLessThanOrEqual(most)
})

test('what shows on two pages, because rows have shifted, is listed once', async () => {
  const pages = [numbered(0, 3), numbered(2, 3), []]
  const { api } = await startClient((request) => ({ json: { data: pages[pageNumber(request) - 1] } }))

  expect((await api.servers.list()).map(({ id }) => id)).toEqual(['sv_0', 'sv_1', 'sv_2', 'sv_3', 'sv_4'])
})

test('a server that takes no notice of the page number is not asked for ever', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [...numbered(0, 3), 'broken'] } }))

  expect(await api.servers.list()).toHaveLength(3)
  expect(requests).toHaveLength(2)
})

test('a page of nothing but broken items is not the end', async () => {
  const pages = [['broken', 'too'], numbered(0, 1), []]
  const { api } = await startClient((request) => ({ json: { data: pages[pageNumber(request) - 1] } }))

  expect(await api.servers.list()).toHaveLength(1)
})

test('a list without an end is given up', async () => {
  const { api, requests } = await startClient((request) => ({ json: { data: numbered(pageNumber(request), 1) } }))

  const error = await rejection(api.servers.list())

  expect(error).toBeInstanceOf(ApiContractError)
  expect(requests.length).toBeLessThan(1_010)
})

test('half a list is none: a page that fails fails the list', async () => {
  const { api } = await startClient((request) => (pageNumber(request) === 2 ? { status: 403 } : { json: { data: numbered(0, 100) } }))

  expect(await rejection(api.servers.list())).toBeInstanceOf(ApiError)
})
