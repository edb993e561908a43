import { expect, test } from 'vitest'
import { findRedisFaults } from '../../src/changes/check-redis.ts'

const good = '# Server\r\nredis_version:7.4.2\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n'

test('a Redis that keeps everything has no faults', () => {
  expect(findRedisFaults(good)).toEqual([])
})

test('one that forgets has each of them told', () => {
  const bad = good.replace('7.4.2', '6.2.1').replace('noeviction', 'allkeys-lru').replace('aof_enabled:1', 'aof_enabled:0')
  expect(findRedisFaults(bad)).toMatchInlineSnapshot(`
    [
      "Redis is version 6.2.1, and 7 or newer is needed: update it.",
      "Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction.",
      "Redis does not write what it is told to disk (appendonly no): set appendonly yes.",
    ]
  `)
})

test('a Valkey is taken for the Redis that it says it is compatible with, and has to keep everything, too', () => {
  const valkey = good.replace('redis_version:7.4.2', 'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1')

  expect(findRedisFaults(valkey)).toEqual([])
  expect(findRedisFaults(valkey.replace('noeviction', 'volatile-ttl'))).toEqual([
    'Redis evicts keys when its memory is full (maxmemory-policy volatile-ttl): set it to noeviction.',
  ])
})

test('one that hides what it is set to is not accused', () => {
  expect(findRedisFaults('redis_version:8.0.0\r\n')).toEqual([])
})
