import { afterEach, expect, test, vi } from 'vitest'
import type { ElasticIp } from '../../src/domain/account/elastic-ip.ts'
import { createNoteSoon } from '../../src/redis/assignments/note-soon.ts'

afterEach(() => vi.useRealTimers())

const ip = (id: string, serverId: string | undefined, status = 'active') =>
  ({ id, address: '203.0.113.10', status, server: serverId && { id: serverId, hostname: 'web-1' } }) as ElasticIp

test('single reads are noted together, each with its last server, and none without one or while it moves', async () => {
  vi.useFakeTimers()
  const noted: unknown[] = []
  const noteSoon = createNoteSoon({
    note: async (seen) => void noted.push(seen.map(({ id, server }) => [id, server?.id])),
    onError: () => expect.fail(),
  })

  for (const one of [ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1', 'moving'), ip('eip_3', undefined), ip('eip_1', 'sv_2'), ip('eip_4', 'sv_1')])
    noteSoon(one)
  await vi.advanceTimersByTimeAsync(4_900)
  expect(noted).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  expect(noted).toEqual([
    [
      ['eip_1', 'sv_2'],
      ['eip_4', 'sv_1'],
    ],
  ])

  noteSoon(ip('eip_1', 'sv_3'))
  await vi.advanceTimersByTimeAsync(5_100)
  expect(noted).toHaveLength(2)
})

test('a failure is reported, and the next read is noted again', async () => {
  vi.useFakeTimers()
  const errors: unknown[] = []
  const noteSoon = createNoteSoon({ note: () => Promise.reject(new Error('away')), onError: (error) => void errors.push(error) })

  noteSoon(ip('eip_1', 'sv_1'))
  await vi.advanceTimersByTimeAsync(5_100)
  noteSoon(ip('eip_1', 'sv_1'))
  await vi.advanceTimersByTimeAsync(5_100)

  expect(errors).toHaveLength(2)
})
