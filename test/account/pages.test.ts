import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/domain/errors.ts'
import { inLane } from '../../src/domain/lane.ts'
import { type Reply, rejection, startClient } from './recording-server.ts'

function numbered(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: `sv_${from + index}`, attributes: { hostname: `web-${from + index}` } }))
}

const queryOf = ({ target }: { target: string }) => new URLSearchParams(target.split('?')[1])
const pageNumber = (request: { target: string }) => Number(queryOf(request).get('page[number]'))

/** Answers for `total` items with at most `maxPageSize` items per page, also if the request names another page size. */
function serverWith(total: number, maxPageSize: number, meta: (request: { target: string }) => unknown = () => ({})) {
  return (request: { target: string }): Reply => {
    const size = Math.min(maxPageSize, Number(queryOf(request).get('page[size]')))
    const start = (pageNumber(request) - 1) * size
    return { json: { data: numbered(start, Math.max(0, Math.min(size, total - start))), meta: meta(request) } }
  }
}

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)

describe('the end of a list', () => {
  test.each<[total: number, requests: number]>([
    [0, 1],
    [1, 1],
    [19, 1],
    [20, 2],
    [99, 2],
    [100, 2],
    [115, 2],
    [120, 3],
    [1_000, 11],
  ])('of %i items costs %i requests, one after the other', async (total, count) => {
    let underway = 0
    const { api, requests } = await startClient((request) => (response) => {
      underway += 1
      expect(underway).toBe(1)
      setTimeout(() => {
        underway -= 1
        const { json } = serverWith(total, 100)(request) as { json: unknown }
        response.writeHead(200, { 'content-type': 'application/vnd.api+json' }).end(JSON.stringify(json))
      }, 1)
    })

    expect(idsOf((await api.servers.list()).items)).toEqual(idsOf(numbered(0, total)))
    expect(requests.map(pageNumber)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  })

  test('is its total, where it tells one', async () => {
    const total = (request: { target: string }) =>
      queryOf(request).get('stats[total]') === 'count' ? { stats: { total: { count: '40' } } } : {}
    const { api, requests } = await startClient(serverWith(40, 100, total))

    expect((await api.virtualMachines.list()).items).toHaveLength(40)
    expect((await api.servers.list()).items).toHaveLength(40)
    expect(requests).toHaveLength(2)
    expect((await api.elasticIps.list()).items).toHaveLength(40)
    expect(requests).toHaveLength(4)
  })

  test.each<[what: string, stats: unknown, requests: number]>([
    ['is absent', undefined, 1],
    ['is no number', { total: { count: null } }, 1],
    ['is too small', { total: { count: 3 } }, 1],
    ['is too large', { total: { count: 30 } }, 2],
  ])('does not depend on a total that %s', async (_, stats, count) => {
    const { api, requests } = await startClient(serverWith(7, 100, () => ({ stats })))

    expect((await api.virtualMachines.list()).items).toHaveLength(7)
    expect(requests).toHaveLength(count)
  })

  test('is found of a server that cuts pages below the documented size, as soon as it was seen to', async () => {
    const { api, requests } = await startClient(serverWith(50, 7))

    expect((await api.servers.list()).items).toHaveLength(7)
    expect((await inLane('background', () => api.servers.list())).items).toHaveLength(50)
    expect((await api.servers.list()).items).toHaveLength(50)
    expect(requests).toHaveLength(1 + 9 + 9)
  })

  test('is checked once by a read for which nobody waits', async () => {
    const { api, requests } = await startClient(serverWith(5, 100))
    const inBackground = () => inLane('background', () => api.servers.list())

    for (const read of [inBackground, inBackground, () => api.servers.list()]) expect((await read()).items).toHaveLength(5)
    expect(requests).toHaveLength(2 + 1 + 1)
  })

  test('is found of every server that allows pages of the documented size', async () => {
    const any = fc.record({ total: fc.nat(260), maxPageSize: fc.integer({ min: 20, max: 130 }), skipped: fc.nat(4) })
    await fc.assert(
      fc.asyncProperty(any, async ({ total, maxPageSize, skipped }) => {
        // Rows go away between the pages, so later ones shift onto pages that were read.
        const { api, requests } = await startClient((request) => {
          const number = pageNumber(request)
          const size = Math.min(maxPageSize, 100)
          const start = Math.max(0, (number - 1) * size - (number > 1 ? skipped : 0))
          return { json: { data: numbered(start, Math.max(0, Math.min(size, total - start))) } }
        })
        expect(new Set(idsOf((await api.servers.list()).items))).toEqual(new Set(idsOf(numbered(0, total))))
        expect(requests.length).toBeLessThanOrEqual(Math.ceil((total + skipped) / Math.min(maxPageSize, 100 - skipped)) + 2)
      }),
      { numRuns: 40 },
    )
  })

  test.each<[count: number, requests: number]>([
    [3, 1],
    [30, 2],
  ])('is found of a server that ignores the page number and has %i items', async (count, most) => {
    const { api, requests } = await startClient(() => ({ json: { data: [...numbered(0, count), 'broken'] } }))

    expect((await api.servers.list()).items).toHaveLength(count)
    expect(requests).toHaveLength(most)
  })
})

test('reads on after a page with only invalid items', async () => {
  const broken = Array.from({ length: 20 }, (_, index) => `broken ${index}`)
  const pages = [broken, numbered(0, 1)]
  const { api } = await startClient((request) => ({ json: { data: pages[pageNumber(request) - 1] } }))

  expect((await api.servers.list()).items).toHaveLength(1)
})

test('throws when one page fails, instead of returning part of the list', async () => {
  const { api } = await startClient((request) => (pageNumber(request) === 2 ? { status: 403 } : { json: { data: numbered(0, 100) } }))

  expect(await rejection(api.servers.list())).toBeInstanceOf(ApiError)
})
