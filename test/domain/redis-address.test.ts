import { expect, test } from 'vitest'
import { parseRedisAddress } from '../../src/domain/redis-address.ts'

test.each([
  ['redis://localhost', { kind: 'single' }],
  ['rediss://user:pass@redis.example.com:6380/2', { kind: 'single' }],
  [
    'redis+sentinel://:s%40crt@s1:26379,s2,s3:26381/primary/1',
    {
      kind: 'sentinel',
      primary: 'primary',
      database: 1,
      password: 's@crt',
      tls: false,
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_379 },
        { host: 's3', port: 26_381 },
      ],
    },
  ],
  ['rediss+sentinel://s1/main', { kind: 'sentinel', primary: 'main', database: 0, tls: true }],
  [
    'redis+cluster://bot:pw@[::1]:7000,127.0.0.1:7001',
    {
      kind: 'cluster',
      username: 'bot',
      password: 'pw',
      nodes: [
        { host: '::1', port: 7000 },
        { host: '127.0.0.1', port: 7001 },
      ],
    },
  ],
])('%s', (text, expected) => {
  expect(parseRedisAddress(text)).toMatchObject(expected)
})

test.each([
  'http://localhost',
  'redis://',
  'redis://localhost/name',
  'redis+sentinel://s1',
  'redis+sentinel://s1/primary/x',
  'redis+cluster://n1/0',
  'redis+cluster://',
  'redis+other://n1',
  'redis+cluster://n1:99999',
  'localhost:6379',
])('not an address: %s', (text) => {
  expect(parseRedisAddress(text)).toBeUndefined()
})
