import { beforeEach, expect, test, vi } from 'vitest'
import { createHomeWatch } from '../../../src/requests/interactions/home-watch.ts'

const minutes = 60_000

interface Shown {
  id: string
  revision: number
}

const viewer = (userId: string) => ({ teamId: 'T0NIMBUS01', channelId: '', userId, command: '/infra' })
const ben = viewer('U0BEN00001')

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

/** Watches Home tabs. `stored`: the requests as Redis has them. `published`: whose tabs were published again. */
function startWatch(more: Partial<Parameters<typeof createHomeWatch>[0]> = {}) {
  const stored: Shown[] = [{ id: 'move', revision: 3 }]
  const published: string[] = []
  const reads: string[][] = []
  const errors: unknown[] = []
  const watch = createHomeWatch({
    findMany: async (ids) => {
      reads.push(ids)
      return stored.filter(({ id }) => ids.includes(id))
    },
    publish: async ({ userId }) => {
      published.push(userId)
      return stored
    },
    onError: (error) => void errors.push(error),
    ...more,
  })
  const change = () => {
    for (const each of stored) each.revision += 1
  }
  return { watch, stored, change, published, reads, errors }
}

test('a Home tab is published again once for each change of a request on it', async () => {
  const { watch, change, published } = startWatch()
  watch.watch(ben, [{ id: 'move', revision: 3 }])

  await vi.advanceTimersByTimeAsync(15_000)
  expect(published).toEqual([])
  change()
  await vi.advanceTimersByTimeAsync(15_000)
  change()
  await vi.advanceTimersByTimeAsync(15_000)

  expect(published).toEqual([ben.userId, ben.userId])
})

test('a Home tab is watched for ten minutes after its person has opened it, and nothing is read afterwards', async () => {
  const { watch, change, published, reads } = startWatch()
  watch.watch(ben, [{ id: 'move', revision: 3 }])

  await vi.advanceTimersByTimeAsync(10 * minutes)
  const read = reads.length
  change()
  await vi.advanceTimersByTimeAsync(10 * minutes)

  expect([published, read > 100, reads.length]).toEqual([[], true, read])
  expect(vi.getTimerCount()).toBe(0)
})

test('a Home tab that could not be shown, or of a person who may no longer see it, is not watched', async () => {
  const { watch, change, published, reads } = startWatch({ publish: async () => undefined })
  watch.watch(viewer('U0ADA00001'), undefined)
  watch.watch(ben, [{ id: 'move', revision: 3 }])

  change()
  await vi.advanceTimersByTimeAsync(minutes)

  expect([published, reads]).toEqual([[], [['move']]])
})

test('a Home tab is published again at once after a request of its person, also where it showed none, and reads nothing before', async () => {
  const { watch, published, reads } = startWatch()
  watch.watch(ben, [])
  await vi.advanceTimersByTimeAsync(minutes)
  expect([published, reads]).toEqual([[], []])

  watch.outdate(ben.userId)
  watch.outdate('U0ADA00001')
  await vi.advanceTimersByTimeAsync(0)
  expect(published).toEqual([ben.userId])
  await vi.advanceTimersByTimeAsync(minutes)

  expect(published).toEqual([ben.userId])
})

test('however many people have their Home tab open, at most 48 are published a minute, and each in its turn', async () => {
  const { watch, change, published } = startWatch()
  const people = Array.from({ length: 25 }, (_, index) => viewer(`U${index}`))
  for (const each of people) watch.watch(each, [{ id: 'move', revision: 3 }])

  change()
  await vi.advanceTimersByTimeAsync(minutes)

  expect(published).toEqual(people.slice(-20).map(({ userId }) => userId))
  change()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(published).toHaveLength(24)
})

test('while Redis is away the watch ends, with one error', async () => {
  const { watch, errors } = startWatch({ findMany: async () => Promise.reject(new Error('Redis is away')) })
  watch.watch(ben, [{ id: 'move', revision: 3 }])

  await vi.advanceTimersByTimeAsync(minutes)

  expect(errors).toEqual([new Error('Redis is away')])
  expect(vi.getTimerCount()).toBe(0)
})

test('after the stop nothing is published', async () => {
  const { watch, change, published } = startWatch()
  watch.watch(ben, [{ id: 'move', revision: 3 }])
  await watch.stop()

  change()
  await vi.advanceTimersByTimeAsync(minutes)

  expect(published).toEqual([])
})
