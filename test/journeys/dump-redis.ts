import { Redis } from 'ioredis'

/** Returns every key of Redis that fits with its whole value, including jobs and their logs. */
export async function dumpRedis(url: string, pattern = '*'): Promise<string> {
  const client = new Redis(url)
  const parts: string[] = []
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    hash: (key) => client.hgetall(key),
    zset: (key) => client.zrange(key, '0', '-1'),
    set: (key) => client.smembers(key),
    list: (key) => client.lrange(key, 0, -1),
    stream: (key) => client.xrange(key, '-', '+'),
    string: (key) => client.get(key),
  }
  for (const key of await client.keys(pattern)) {
    const value = await readers[await client.type(key)]?.(key)
    parts.push(key, JSON.stringify(value))
  }
  client.disconnect()
  return parts.join('\n')
}
