import type { ChainableCommander, Redis } from 'ioredis'

/** How each type of Redis is read and written. */
const types = {
  string: {
    read: (redis: Redis, name: string) => redis.get(name),
    write: (to: ChainableCommander, name: string, value: string) => to.set(name, value),
  },
  hash: {
    read: (redis: Redis, name: string) => redis.hgetall(name),
    write: (to: ChainableCommander, name: string, value: Record<string, string>) => to.hset(name, value),
  },
  set: {
    read: async (redis: Redis, name: string) => (await redis.smembers(name)).toSorted(),
    write: (to: ChainableCommander, name: string, value: string[]) => to.sadd(name, ...value),
  },
  list: {
    read: (redis: Redis, name: string) => redis.lrange(name, 0, -1),
    write: (to: ChainableCommander, name: string, value: string[]) => to.rpush(name, ...value),
  },
  /** Members and their scores in turn. */
  zset: {
    read: (redis: Redis, name: string) => redis.zrange(name, '0', '-1', 'WITHSCORES'),
    write: (to: ChainableCommander, name: string, value: string[]) =>
      to.zadd(name, ...value.map((_, index) => value[index % 2 === 0 ? index + 1 : index - 1] ?? '')),
  },
  stream: {
    read: (redis: Redis, name: string) => redis.xrange(name, '-', '+'),
    write: (to: ChainableCommander, name: string, value: [id: string, fields: string[]][]) => {
      for (const [id, fields] of value) to.xadd(name, id, ...fields)
    },
  },
}

/** Everything that a bot kept in Redis, by key without the prefix, and when that was. */
export interface StoredData {
  /** In ms since 1970. */
  writtenAt: number
  keys: Record<string, { type: keyof typeof types; value: { length?: unknown } | string }>
}

/** Reads everything that the bot with this prefix keeps, except for locks of jobs, which expire within seconds. */
export async function readStoredData(redis: Redis, prefix: string): Promise<StoredData> {
  const data: StoredData = { writtenAt: Date.now(), keys: {} }
  for (const name of (await redis.keys(`{${prefix}}:*`)).toSorted()) {
    const type = (await redis.type(name)) as keyof typeof types
    const value = name.endsWith(':lock') ? undefined : await types[type]?.read(redis, name)
    // A key can expire before its value is read.
    if (value && Object.keys(value).length > 0) data.keys[name.slice(`{${prefix}}`.length)] = { type, value }
  }
  return data
}

/** Puts everything into Redis, in one transaction, in place of all that the bot with this prefix keeps. */
export async function writeStoredData(redis: Redis, prefix: string, { keys }: Pick<StoredData, 'keys'>): Promise<void> {
  const before = await redis.keys(`{${prefix}}:*`)
  const transaction = redis.multi()
  if (before.length > 0) transaction.unlink(...before)
  for (const [rest, { type, value }] of Object.entries(keys)) types[type].write(transaction, `{${prefix}}${rest}`, value as never)
  await transaction.exec()
}
