import type { KnownBlock } from '@slack/web-api'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createHome } from '../../src/buttons/home.ts'
import type { Request } from '../../src/domain/request.ts'
import { createStore, encodeFields, type Store } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import type { Done } from '../../src/slack/web-api.ts'
import { fakeApp, notFrozen } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { trusting } from '../given/audit.ts'
import { connectTestRedis, noAudit } from '../given/redis.ts'
import { minutes, moveFacts, requestedAt, requestFor as requestWithout } from '../given/request.ts'
import { readableBlocks } from '../messages/readable.ts'
import { forViews } from '../messages/view-app.ts'

const requestFor = (more: Partial<Request> = {}) => requestWithout({ facts: moveFacts, ...more })

const ben = 'U0BEN00001'
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: ben, command: '/infra' }

/** Home tabs over a store without requests, unless there is another. `publish`: the first answers of Slack. */
function startHome({ store = {}, publish = [] }: { store?: Partial<Store>; publish?: Done[] } = {}) {
  const pages: KnownBlock[][] = []
  const app = fakeApp(judging({}), {
    ...notFrozen,
    keys: createKeys('test'),
    redis: { hgetall: async () => ({}) },
    store: {
      findOpen: async () => ({ requests: [], unreadable: 0 }),
      ended: async () => [],
      findMany: async () => [],
      now: async () => requestedAt + 30 * minutes,
      orderOnHome: async (_, ids) => ids,
      ...store,
    },
    catalog: forViews.catalog,
    signatures: forViews.signatures,
    config: forViews.config,
    slack: {
      messenger: {
        publishHome: async (_, blocks) => {
          pages.push(blocks)
          return publish.shift() ?? { is: 'sent' }
        },
      },
      identity: forViews.identity,
    },
    errors: {
      of: () => (error) => {
        if (!String(error).includes('not_enabled')) throw error
      },
    },
  })
  return { home: createHome(app, () => []), pages }
}

/** The Home tab of Ben. `open`: the requests that were listed as open, as they are when they are read. */
async function homeOf({ open, ended }: { open: Request[]; ended: Request[] }) {
  const { home, pages } = startHome({
    store: {
      findOpen: async () => ({ requests: open, unreadable: 0 }),
      ended: async (limit, fits) => ended.filter(fits).slice(0, limit),
    },
  })
  await home.open(origin)
  const [page] = pages
  if (!page) throw new Error('nothing was shown')
  return page
}

test('a request that is decided or ends during the reads is shown once, in the right part', async () => {
  const mine = { id: 'mine', origin, state: 'tracking' as const, sentAt: requestedAt }
  const mineEnded = requestFor({ ...mine, state: 'done', endedAt: requestedAt + minutes })
  const decided = requestFor({ id: 'theirs', state: 'approved', decidedAt: requestedAt + minutes })

  const blocks = await homeOf({ open: [mineEnded, decided], ended: [mineEnded] })

  const ids = blocks.flatMap((block) => ('block_id' in block && block.block_id ? [block.block_id] : []))
  expect(new Set(ids).size).toBe(ids.length)
  expect(readableBlocks(blocks).match(/^# .*$/gm)).toEqual(['# Your requests (1)', '# In progress (1)'])
})

/** A Home tab over a real store, with many requests of Ben's and of others that have ended. Counts what it costs to show it. */
async function costWith(ended: number) {
  const { redis, keys } = connectTestRedis()
  const pipeline = redis.pipeline()
  for (let index = 0; index < ended; index += 1) {
    const own = index % 3 === 0 ? { origin } : {}
    pipeline.hset(keys.record(`r${index}`), encodeFields(requestFor({ ...own, id: `r${index}`, state: 'rejected', endedAt: requestedAt })))
    pipeline.zadd(keys.ended, index, `r${index}`)
  }
  await pipeline.exec()
  let roundTrips = 0
  const counted = new Proxy(redis, {
    get(target, name) {
      const member = target[name as keyof typeof target] as unknown
      if (typeof member !== 'function') return member
      return (...values: unknown[]) => {
        roundTrips += 1
        return member.apply(target, values)
      }
    },
  })
  const store = createStore({ redis: counted, keys, audit: noAudit, signatures: trusting })
  const { home, pages } = startHome({ store })
  await store.now()
  roundTrips = 0
  const sent = vi.spyOn(redis, 'sendCommand')

  await home.show(origin)

  expect(readableBlocks(pages[0] ?? [])).toMatch(/# Your requests \(\d+\)/)
  return { roundTrips, commands: sent.mock.calls.length }
}

test('a Home tab costs as many reads of Redis with 2,000 ended requests as with few', async () => {
  const [few, some, many] = [await costWith(10), await costWith(100), await costWith(2_000)]

  expect(many.roundTrips).toBe(few.roundTrips)
  expect(many.commands).toBe(some.commands)
  expect(many.roundTrips).toBeLessThan(12)
})

describe('of one person', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    return () => vi.useRealTimers()
  })

  test('at most one Home tab is published a second, the last that was wanted', async () => {
    const { home, pages } = startHome()
    await home.show(origin)
    const shown = Array.from({ length: 5 }, () => home.show(origin))
    const last = home.open(origin, mrkdwn`Guests can't use Lockkeeper.`)
    await vi.advanceTimersByTimeAsync(999)
    expect(pages).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)

    await last
    expect(await Promise.all(shown)).toEqual(Array(5).fill('shown'))
    expect(pages).toHaveLength(2)
    expect(readableBlocks(pages[1] ?? [])).toContain("Guests can't use Lockkeeper.")
  })

  test('a tab waits for no tab of somebody else, nor for one that failed longer than a second', async () => {
    const { home, pages } = startHome({ publish: [{ is: 'refused', error: 'not_enabled' }] })

    expect(await home.show(origin)).toEqual({ refused: 'not_enabled' })
    expect(await home.show({ ...origin, userId: 'U0ADA00001' })).toBe('shown')
    const again = home.show(origin)
    await vi.advanceTimersByTimeAsync(1_000)

    expect(await again).toBe('shown')
    expect(pages).toHaveLength(3)
  })
})
