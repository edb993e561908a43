import { expect, test } from 'vitest'
import type { Request } from '../../../../src/domain/request.ts'
import { createSight, lostAfterMs, type Observed } from '../../../../src/requests/observe.ts'
import { requestFor } from '../../request-for-test.ts'

const startedAt = 1_795_024_800_000

/** Notes the results of ticks on requests that a store without Redis keeps. */
function startSight(count: number) {
  const records = new Map<string, Request>()
  for (let at = 0; at < count; at += 1) records.set(`r${at}`, requestFor({ id: `r${at}`, state: 'tracking', sentAt: startedAt - 5_000 }))
  const taken: string[] = []
  const noteSight = createSight({
    store: {
      findMany: async (ids) => ids.flatMap((id) => records.get(id) ?? []),
      take: async (request, name, { set = {} } = {}) => {
        taken.push(`${name} ${request.id}`)
        records.set(request.id, { ...request, ...set } as Request)
        return { outcome: 'won', state: 'tracking' }
      },
    },
    checkRecord: (request) => (request.reason === 'changed in Redis' ? { code: 'record-changed' } : undefined),
  })

  /** One tick, `sinceMs` after the first. Each request gives this result, or these give theirs. */
  async function tick(sinceMs: number, results: Observed | Observed[]): Promise<void> {
    const tracked = [...records.values()].map((request) => ({ request }))
    await noteSight(tracked, Array.isArray(results) ? results : tracked.map(() => results), startedAt + sinceMs)
  }
  return { records, taken, tick }
}

test('requests under way say since when the account API has not answered, and no longer say it once it answers', async () => {
  const { records, taken, tick } = startSight(2)

  await tick(0, 'unread')
  await tick(lostAfterMs - 1, 'unread')
  expect(taken).toEqual([])
  await tick(lostAfterMs, 'unread')
  await tick(lostAfterMs + 5_000, 'unread')

  expect(taken).toEqual(['lose-sight r0', 'lose-sight r1'])
  expect(records.get('r0')?.unanswered).toEqual({ since: startedAt })

  await tick(90_000, ['read', 'skipped'])

  expect(taken.slice(2)).toEqual(['regain-sight r0'])
  expect(records.get('r0')?.unanswered).toEqual({ since: startedAt, until: startedAt + 90_000 })
})

test('as long as one read is answered, the account API is not away', async () => {
  const { taken, tick } = startSight(2)

  for (let ms = 0; ms <= 4 * lostAfterMs; ms += 5_000) await tick(ms, ms % 20_000 === 0 ? ['unread', 'read'] : 'unread')

  expect(taken).toEqual([])
})

test('ticks without a read change nothing', async () => {
  const { taken, tick } = startSight(1)

  await tick(0, 'skipped')
  await tick(2 * lostAfterMs, 'skipped')

  expect(taken).toEqual([])
})

test('so many requests that their messages would delay the reports of their ends stay as they are', async () => {
  const { taken, tick } = startSight(101)

  await tick(0, 'unread')
  await tick(lostAfterMs, 'unread')

  expect(taken).toEqual([])
})

test('a request that was not sent, has ended, or whose record was changed takes no step', async () => {
  const { records, taken, tick } = startSight(3)
  const changed = { r0: { sentAt: undefined }, r1: { state: 'done' }, r2: { reason: 'changed in Redis' } } as const
  for (const [id, set] of Object.entries(changed)) records.set(id, { ...requestFor({ id }), ...records.get(id), ...set } as Request)

  await tick(0, 'unread')
  await tick(lostAfterMs, 'unread')

  expect(taken).toEqual([])
})
