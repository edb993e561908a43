import { describe, expect, test } from 'vitest'
import type { Count } from '../../../src/requests/worker/counts.ts'
import { createProgress } from '../../../src/requests/worker/progress.ts'
import { catalog } from '../catalog-for-test.ts'

interface Seen {
  dueSinceMs?: number
  lastTickMs?: number
  workers?: number
  open?: Count[]
}

/** What is in Redis: since when the oldest is due, when the last tick was, and how many workers there are. */
function seen({ dueSinceMs, lastTickMs = 5_000, workers = 1, open = [] }: Seen) {
  return createProgress({
    store: {
      isBusy: async (withinMs) => dueSinceMs !== undefined && -dueSinceMs <= withinMs,
      sinceLastTickMs: async () => lastTickMs,
      workersSeen: async () => workers,
    },
    queues: { depth: async () => [], pollIntervalMs: 10_000 },
    counts: async () => ({ open, unsent: 0 }),
    catalog,
  })
}

describe('whether work gets on', () => {
  test('it does where nothing is due, however long ago the last tick was', async () => {
    await expect(seen({ lastTickMs: Number.POSITIVE_INFINITY }).check()).resolves.toBeUndefined()
  })

  test('and where something is due just now, after a long rest: the first tick takes a moment', async () => {
    await expect(seen({ dueSinceMs: 5_000, lastTickMs: 86_400_000 }).check()).resolves.toBeUndefined()
    await expect(seen({ dueSinceMs: 5_000, lastTickMs: Number.POSITIVE_INFINITY }).check()).resolves.toBeUndefined()
  })

  test('and where much is due for long, while ticks come', async () => {
    await expect(seen({ dueSinceMs: 300_000 }).check()).resolves.toBeUndefined()
  })

  test('it does not where something is long due and nothing ticks', async () => {
    await expect(seen({ dueSinceMs: 61_000, lastTickMs: 70_000 }).check()).rejects.toThrow(
      'Something is due, and the last tick was 70 s ago',
    )
    await expect(seen({ dueSinceMs: 61_000, lastTickMs: Number.POSITIVE_INFINITY }).check()).rejects.toThrow(
      'Something is due, and there has been no tick yet',
    )
  })

  test('nor where no worker is at work', async () => {
    await expect(seen({ workers: 0 }).check()).rejects.toThrow('No worker has been at work for 30 s')
  })
})

test('only what takes time counts as in flight, and only once it was sent', async () => {
  const open = [
    { kind: 'ip.move', state: 'waiting', count: 1 },
    { kind: 'ip.move', state: 'starting', count: 20 },
    { kind: 'ip.move', state: 'tracking', count: 300 },
    { kind: 'vm.rename', state: 'tracking', count: 4_000 },
    { kind: 'of.a.later.version', state: 'tracking', count: 50_000 },
  ]

  expect(await seen({ open }).snapshot()).toMatchObject({ movesInFlight: 320 })
})
