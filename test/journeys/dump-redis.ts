import { Redis } from 'ioredis'

/** Returns every key of Redis that fits with its whole value, including jobs and their logs. */
export async function dumpRedis(url: string, pattern = '*'): Promise<string> {
  const client = new Redis(url)
  const parts: string[] = []
  for (const key of await client.keys(pattern)) {
    const type = await client.type(key)
    const value =
      type === 'hash'
        ? await client.hgetall(key)
        : type === 'zset'
          ? await client.zrange(key, '0', '-1')
          : type === 'set'
            ? await client.smembers(key)
            : type === 'list'
              ? await client.lrange(key, 0, -1)
              : type === 'stream'
                ? await client.xrange(key, '-', '+')
                : await client.get(key)
    parts.push(key, JSON.stringify(value))
  }
  client.disconnect()
  return parts.join('\n')
}
