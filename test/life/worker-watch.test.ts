import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import { createWorkerWatch } from '../../src/life/self-checks.ts'
import { fakeApp, noticing } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'

/** What each check sees in turn: how many workers, or a Redis that is away. The last one holds for all further checks. Returns when operators were told. */
async function toldAt(checks: (number | 'away')[]): Promise<number | undefined> {
  let check = 0
  let at: number | undefined
  const app = fakeApp({
    store: {
      workersSeen: async () => {
        const seen = checks[Math.min(check++, checks.length - 1)] ?? 0
        if (seen === 'away') throw new StoreUnavailableError('away')
        return seen
      },
      lastWorkerAt: async () => 0,
      findOpen: async () => ({ requests: [], unreadable: 0 }),
    },
    catalog,
    ...noticing([]),
    lines: {
      write: () => {
        at ??= check
        return true
      },
    },
    errors: { of: () => () => {} },
  })
  const watch = createWorkerWatch(app, { checkMs: 5 })
  onTestFinished(watch.stop)
  watch.start()
  await expect.poll(() => check).toBeGreaterThan(checks.length + 5)
  return at
}

test('operators are told if three checks in a row see no worker', async () => {
  expect(await toldAt([0])).toBe(3)
})

test('a worker that starts a little later, at the start or after an outage of Redis, is no reason for an alarm', async () => {
  expect(await toldAt([0, 0, 1])).toBeUndefined()
  expect(await toldAt([1, 'away', 0, 0, 1])).toBeUndefined()
  expect(await toldAt([0, 0, 'away', 0, 0, 1])).toBeUndefined()
})
