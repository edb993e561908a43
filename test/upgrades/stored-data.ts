import type { ChainableCommander, Redis } from 'ioredis'

type Value = string | string[] | Record<string, string> | [id: string, fields: string[]][]

/** How each type of Redis is read and written. */
const types: Record<
  string,
  [read: (redis: Redis, name: string) => Promise<Value | null>, write: (to: ChainableCommander, name: string, value: never) => void]
> = {
  string: [(redis, name) => redis.get(name), (to, name, value: string) => to.set(name, value)],
  hash: [(redis, name) => redis.hgetall(name), (to, name, value: Record<string, string>) => to.hset(name, value)],
  set: [(redis, name) => redis.smembers(name), (to, name, value: string[]) => to.sadd(name, value)],
  zset: [
    async (redis, name) => (await redis.zrange(name, '0', '-1', 'WITHSCORES')).reverse(),
    (to, name, value: string[]) => to.zadd(name, ...value),
  ],
  stream: [
    (redis, name) => redis.xrange(name, '-', '+'),
    (to, name, value: [string, string[]][]) => {
      for (const [id, fields] of value) to.xadd(name, id, ...fields)
    },
  ],
}

/** What must outlive an upgrade: queues, copies of lists and marks of a minute are made anew. */
const isKept = (name: string) =>
  /^:(?:request|resource|latest|undecided|open$|ended$|due$|outbox$|audit$|audit:head$|data-loss|signing-key)/.test(name)

/** Everything that a bot kept in Redis, by key without the prefix, and when that was, in ms since 1970. */
export interface StoredData {
  writtenAt: number
  keys: Record<string, { type: string; value: Value }>
}

export async function readStoredData(redis: Redis, prefix: string): Promise<StoredData> {
  const data: StoredData = { writtenAt: Date.now(), keys: {} }
  for (const key of (await redis.keys(`{${prefix}}:*`)).toSorted()) {
    const name = key.slice(`{${prefix}}`.length)
    const type = await redis.type(key)
    const value = isKept(name) ? await types[type]?.[0](redis, key) : undefined
    if (value) data.keys[name] = { type, value }
  }
  return data
}

/** Puts everything into Redis, in one transaction, in place of all that the bot with this prefix keeps. */
export async function writeStoredData(redis: Redis, prefix: string, { keys }: Pick<StoredData, 'keys'>): Promise<void> {
  const before = await redis.keys(`{${prefix}}:*`)
  const transaction = redis.multi()
  if (before.length > 0) transaction.unlink(...before)
  for (const [name, { type, value }] of Object.entries(keys)) types[type]?.[1](transaction, `{${prefix}}${name}`, value as never)
  await transaction.exec()
}
