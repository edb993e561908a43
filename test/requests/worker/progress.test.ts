import { describe, expect, test } from 'vitest'
import type { Count } from '../../../src/requests/worker/counts.ts'
import { createProgress } from '../../../src/requests/worker/progress.ts'
import { catalog } from '../catalog-for-test.ts'

interface Contents {
  dueSinceMs?: number
  lastTickMs?: number
  workers?: number
  open?: Count[]
}

/** The progress by what Redis contains: since when a request is due, how long ago the last tick was, and the number of workers. */
function progressOf({ dueSinceMs, lastTickMs = 5_000, workers = 1, open = [] }: Contents) {
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

describe('the check of the work', () => {
  test('passes if nothing is due, however long ago the last tick was', async () => {
    await expect(progressOf({ lastTickMs: Number.POSITIVE_INFINITY }).check()).resolves.toBeUndefined()
  })

  test('passes if a request became due a moment ago, because the first tick after a pause takes a moment', async () => {
    await expect(progressOf({ dueSinceMs: 5_000, lastTickMs: 86_400_000 }).check()).resolves.toBeUndefined()
    await expect(progressOf({ dueSinceMs: 5_000, lastTickMs: Number.POSITIVE_INFINITY }).check()).resolves.toBeUndefined()
  })

  test('passes if requests are long overdue while ticks run', async () => {
    await expect(progressOf({ dueSinceMs: 300_000 }).check()).resolves.toBeUndefined()
  })

  test('fails if a request is long overdue and no ticks run', async () => {
    await expect(progressOf({ dueSinceMs: 61_000, lastTickMs: 70_000 }).check()).rejects.toThrow(
      'Something is due, and the last tick was 70 s ago',
    )
    await expect(progressOf({ dueSinceMs: 61_000, lastTickMs: Number.POSITIVE_INFINITY }).check()).rejects.toThrow(
      'Something is due, and there has been no tick yet',
    )
  })

  test('fails if no worker is running', async () => {
    await expect(progressOf({ workers: 0 }).check()).rejects.toThrow('No worker has run for 30 s')
  })
})

test('only changes that take time count as in flight, and only after they were sent', async () => {
  const open = [
    { kind: 'ip.move', state: 'waiting', count: 1 },
    { kind: 'ip.move', state: 'starting', count: 20 },
    { kind: 'ip.move', state: 'tracking', count: 300 },
    { kind: 'vm.rename', state: 'tracking', count: 4_000 },
    { kind: 'of.a.later.version', state: 'tracking', count: 50_000 },
  ]

  expect(await progressOf({ open }).snapshot()).toMatchObject({ movesInFlight: 320 })
})

test('of a request with several items, the items under way count, also if it is late or nothing is sent any more', async () => {
  const open = [
    { kind: 'ip.evacuate', state: 'waiting', count: 3 },
    { kind: 'ip.evacuate', state: 'tracking', count: 2, items: 14 },
    { kind: 'ip.move', state: 'tracking', count: 1 },
  ]

  expect(await progressOf({ open }).snapshot()).toMatchObject({ movesInFlight: 15 })
  expect(await progressOf({ open: [{ kind: 'ip.evacuate', state: 'tracking', count: 1 }] }).snapshot()).toMatchObject({ movesInFlight: 0 })
})
