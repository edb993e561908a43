import { expect, test } from 'vitest'
import { createRepeatedWork } from '../../../src/requests/worker.ts'
import { fakeApp } from '../../fake-app.ts'
import { connectTestRedis } from '../redis-for-test.ts'

test('repeated work runs once in its time, in one process of several', async () => {
  const { redis, keys } = connectTestRedis()
  const runs: string[] = []
  const works = [{ name: 'count', everyMs: 60_000, run: async () => void runs.push('count') }]
  const processes = [1, 2, 3].map(() =>
    createRepeatedWork(fakeApp({ redis, keys, errors: { of: () => () => {} } }), works, { checkMs: 10 }),
  )

  for (const { start } of processes) await start()
  await expect.poll(() => runs).toHaveLength(1)
  await Promise.all(processes.map(({ stop }) => stop()))

  expect(runs).toHaveLength(1)
})

test('repeated work that fails is reported, and is interrupted by a stop', async () => {
  const { redis, keys } = connectTestRedis()
  const errors: unknown[] = []
  let isInterrupted = false
  const works = [
    { name: 'fails', everyMs: 60_000, run: async () => Promise.reject(new Error('no answer')) },
    {
      name: 'hangs',
      everyMs: 60_000,
      run: (_: unknown, signal: AbortSignal) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => {
            isInterrupted = true
            reject(signal.reason)
          })
        }),
    },
  ]
  const { start, stop } = createRepeatedWork(fakeApp({ redis, keys, errors: { of: () => (error) => void errors.push(error) } }), works, {
    checkMs: 10,
  })

  await start()
  await expect.poll(() => errors).toMatchObject([{ message: 'no answer' }])
  await expect.poll(() => redis.exists(keys.repeated('hangs'))).toBe(1)
  await stop()

  expect(isInterrupted).toBe(true)
})

test('repeated work runs over the connection of the jobs, and not over the one that fails fast for people', async () => {
  const { redis, keys } = connectTestRedis()
  const jobs = fakeApp({ redis, keys, errors: { of: () => () => {} } })
  const runs: unknown[] = []
  const { start, stop } = createRepeatedWork(jobs, [{ name: 'looks', everyMs: 60_000, run: async (app) => void runs.push(app) }], {
    checkMs: 10,
  })

  await start()
  await expect.poll(() => runs).toHaveLength(1)
  await stop()

  expect(runs[0] === jobs).toBe(true)
})
