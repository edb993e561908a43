import type { ChainableCommander, Redis } from 'ioredis'

/** One key of Redis with its value, in a form that does not depend on the version of Redis. */
type Stored =
  | { type: 'string'; value: string }
  | { type: 'hash'; value: Record<string, string> }
  | { type: 'set' | 'list'; value: string[] }
  | { type: 'zset'; value: [member: string, score: string][] }
  | { type: 'stream'; value: [id: string, fields: string[]][] }

/** Everything that a bot kept in Redis, by key without the prefix, and when that was. */
export interface StoredData {
  /** In ms since 1970. */
  writtenAt: number
  keys: Record<string, Stored>
}

/** Reads everything that the bot with this prefix keeps, except for locks of jobs, which expire within seconds. */
export async function readStoredData(redis: Redis, prefix: string): Promise<StoredData> {
  const tag = `{${prefix}}`
  const names = (await redis.keys(`${tag}:*`)).filter((name) => !name.endsWith(':lock')).toSorted()
  const values = await Promise.all(names.map(async (name) => [name.slice(tag.length), await readKey(redis, name)] as const))
  return {
    writtenAt: Date.now(),
    keys: Object.fromEntries(values.flatMap(([name, value]) => (value && !isEmpty(value) ? [[name, value]] : []))),
  }
}

/** Whether the key expired between the question for its type and the one for its value. */
function isEmpty({ value }: Stored): boolean {
  return Object.keys(value).length === 0
}

async function readKey(redis: Redis, name: string): Promise<Stored | undefined> {
  const type = await redis.type(name)
  switch (type) {
    case 'string':
      return { type, value: (await redis.get(name)) ?? '' }
    case 'hash':
      return { type, value: await redis.hgetall(name) }
    case 'set':
      return { type, value: (await redis.smembers(name)).toSorted() }
    case 'list':
      return { type, value: await redis.lrange(name, 0, -1) }
    case 'zset':
      return { type, value: inPairs(await redis.zrange(name, '0', '-1', 'WITHSCORES')) }
    case 'stream':
      return { type, value: await redis.xrange(name, '-', '+') }
    // It expired meanwhile.
    default:
      return undefined
  }
}

function inPairs(list: string[]): [string, string][] {
  return Array.from({ length: list.length / 2 }, (_, index) => [list[2 * index] ?? '', list[2 * index + 1] ?? ''])
}

/** Puts everything into Redis, in one transaction. */
export async function writeStoredData(redis: Redis, prefix: string, { keys }: StoredData): Promise<void> {
  const transaction = redis.multi()
  for (const [rest, stored] of Object.entries(keys)) writeKey(transaction, `{${prefix}}${rest}`, stored)
  await transaction.exec()
}

function writeKey(redis: ChainableCommander, name: string, stored: Stored): void {
  switch (stored.type) {
    case 'string':
      redis.set(name, stored.value)
      return
    case 'hash':
      redis.hset(name, stored.value)
      return
    case 'set':
      redis.sadd(name, ...stored.value)
      return
    case 'list':
      redis.rpush(name, ...stored.value)
      return
    case 'zset':
      redis.zadd(name, ...stored.value.flatMap(([member, score]) => [score, member]))
      return
    case 'stream':
      for (const [id, fields] of stored.value) redis.call('XADD', name, id, ...fields)
  }
}

/** Removes everything that the bot with this prefix keeps. */
export async function removeStoredData(redis: Redis, prefix: string): Promise<void> {
  const names = await redis.keys(`{${prefix}}:*`)
  if (names.length > 0) await redis.unlink(...names)
}
