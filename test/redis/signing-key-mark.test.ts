import { expect, test } from 'vitest'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { markSigningKey } from '../../src/redis/sealed.ts'
import { connectTestRedis } from '../given/redis.ts'

const [old, next] = [new Secret('an-old-key-of-at-least-32-characters'), new Secret('a-new-key-of-at-least-32-characters!')]

/** Each start has its own keys, and all share one Redis. */
function startsOn({ redis, keys, prefix }: ReturnType<typeof connectTestRedis>) {
  return (...secrets: [Secret, ...Secret[]]) => markSigningKey(redis, keys, createKeyring(secrets, { purpose: 'requests', prefix }))
}

test('a process that signs with another key than the one that started last finds out at its start', async () => {
  const start = startsOn(connectTestRedis())

  expect([await start(old), await start(old), await start(next), await start(next), await start(old)]).toEqual([
    false,
    false,
    true,
    false,
    true,
  ])
})

test('a rotation with the new and the old key finds nothing', async () => {
  const start = startsOn(connectTestRedis())

  expect([await start(old), await start(next, old), await start(next, old), await start(next)]).toEqual([false, false, false, false])
})
