import { expect, test } from 'vitest'
import { judgeWorkers } from '../../src/checks/redis.ts'
import type { Request } from '../../src/domain/request.ts'
import { progressFigures } from '../../src/life/worker.ts'
import { readProgress } from '../../src/start/status.ts'
import { fakeApp } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'
import { requestFor } from '../given/request.ts'

interface Contents {
  dueSinceMs?: number
  lastTickMs?: number
  workers?: number
  open?: Request[]
}

/** The progress by what Redis contains: since when a request is due, how long ago the last tick was, and the number of workers. */
function progressOf({ dueSinceMs, lastTickMs = 5_000, workers = 1, open = [] }: Contents) {
  const app = fakeApp({
    store: {
      isOverdue: async (byMs) => dueSinceMs !== undefined && dueSinceMs >= byMs,
      sinceLastTickMs: async () => lastTickMs,
      workersSeen: async () => workers,
      findOpen: async () => ({ requests: open, unreadable: 0 }),
      countUnsent: async () => 2,
    },
    queues: { pollIntervalMs: 10_000 },
    catalog,
  })
  return { check: async () => judgeWorkers(await readProgress(app)), snapshot: () => progressFigures(app) }
}

test.each<[string, Contents, string | undefined]>([
  ['nothing is due, however long ago the last tick was', { lastTickMs: Number.POSITIVE_INFINITY }, undefined],
  [
    'a request became due a moment ago: the first tick after a start takes a moment',
    { dueSinceMs: 5_000, lastTickMs: 86_400_000 },
    undefined,
  ],
  ['requests are long overdue while ticks run', { dueSinceMs: 300_000 }, undefined],
  [
    'no ticks run any more',
    { dueSinceMs: 61_000, lastTickMs: 70_000 },
    '1 running, but work is overdue. The last tick was 1\u00a0min 10\u00a0s ago.',
  ],
  [
    'there was none',
    { dueSinceMs: 61_000, lastTickMs: Number.POSITIVE_INFINITY },
    '1 running, but work is overdue. There was no tick yet.',
  ],
  ['no worker is running', { workers: 0 }, "None running. Approved requests aren't carried out, nothing is tracked and nothing expires."],
])('the check of the work if %s', async (_, contents, problem) => {
  const { is, words } = await progressOf(contents).check()
  expect(is === 'ok' ? undefined : words.text).toBe(problem)
})

function many(count: number, more: Partial<Request>): Request[] {
  return Array.from({ length: count }, () => requestFor(more))
}

test('open requests are counted by kind and state, and of those that take time, the ones that were sent are in flight', async () => {
  const open = [
    ...many(1, { kind: 'ip.move', state: 'waiting' }),
    ...many(2, { kind: 'ip.move', state: 'starting' }),
    ...many(3, { kind: 'ip.move', state: 'tracking' }),
    ...many(4, { kind: 'vm.rename', state: 'tracking' }),
    ...many(5, { kind: 'of.a.later.version', state: 'tracking' }),
    ...many(6, { state: 'approved', waits: { for: 'freeze' } }),
    ...many(7, { state: 'approved', start: 1 }),
  ]

  expect(await progressOf({ open }).snapshot()).toEqual({
    open: [
      { kind: 'ip.move', state: 'waiting', count: 1 },
      { kind: 'ip.move', state: 'starting', count: 2 },
      { kind: 'ip.move', state: 'tracking', count: 3 },
      { kind: 'vm.rename', state: 'tracking', count: 4 },
      { kind: 'of.a.later.version', state: 'tracking', count: 5 },
      { kind: 'ip.move', state: 'approved', count: 13 },
    ],
    scheduled: [
      { by: 'start', count: 7 },
      { by: 'window', count: 0 },
      { by: 'freeze', count: 6 },
    ],
    movesInFlight: 5,
    workers: 1,
    unsent: 2,
    lastTickAgeMs: 5_000,
  })
})

test('of a request with several items, those under way are in flight', async () => {
  const states = ['waiting', 'starting', 'tracking', 'tracking', 'done', 'failed', 'superseded', 'not-started'] as const
  const items = states.map((state, index) => ({ id: `eip_${index}`, state, causes: [] }))
  const open = [
    requestFor({ kind: 'ip.evacuate', state: 'tracking', items }),
    requestFor({ kind: 'ip.evacuate', state: 'waiting', items: [] }),
    requestFor({ kind: 'ip.move', state: 'tracking' }),
  ]

  expect(await progressOf({ open }).snapshot()).toMatchObject({ movesInFlight: 4 })
})
