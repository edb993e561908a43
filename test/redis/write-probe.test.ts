import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { createWriteProbe } from '../../src/redis/check.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'

test('the probe of a real Redis finds a full memory and a disk that takes no data, and writes nothing', async () => {
  const server = await startRedis({ settings: ['save 3600 1'] })
  const redis = new Redis(server.url)
  onTestFinished(async () => {
    redis.disconnect()
    // Redis doesn't end on SIGTERM if it can't save.
    await server.kill()
    await server.stop()
  })
  const probe = createWriteProbe(redis, createKeys('probed'))

  expect(await probe()).toBeUndefined()
  await redis.config('SET', 'maxmemory', '100kb')
  expect(await probe()).toMatchObject({ code: 'OOM' })
  await redis.config('SET', 'maxmemory', '0')
  expect(await probe()).toBeUndefined()
  // A folder of this name makes the next save fail.
  await mkdir(join(server.folder, 'dump.rdb'))
  await redis.bgsave()
  await expect.poll(probe).toMatchObject({ code: 'MISCONF' })
  expect(await redis.dbsize()).toBe(0)
})
