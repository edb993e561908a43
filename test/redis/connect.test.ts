import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Secret } from '../../src/domain/signing.ts'
import { connectRedis } from '../../src/redis/connect.ts'

/** A load balancer whose Redis is away: it takes each connection, and ends it in this way. */
async function startProxyWithoutRedis(end: (socket: Socket) => void): Promise<string> {
  const proxy = createServer((socket) => end(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  onTestFinished(() => void proxy.close())
  await new Promise((resolve) => proxy.once('listening', resolve))
  return `redis://127.0.0.1:${(proxy.address() as { port: number }).port}`
}

test.each<[how: string, end: (socket: Socket) => void, problem: RegExp]>([
  ['closes', (socket) => socket.end(), /^closed$/],
  ['resets', (socket) => socket.resetAndDestroy(), /^(ECONNRESET|EPIPE)$/],
])('tells a problem at every attempt if something in front of Redis %s connections', async (_, end, problem) => {
  const problems: string[] = []
  const redis = connectRedis(new Secret(await startProxyWithoutRedis(end)), 'patient', (code) => problems.push(code))
  onTestFinished(() => redis.disconnect())

  await expect.poll(() => problems.length).toBeGreaterThan(2)

  expect(problems.filter((code) => !problem.test(code))).toEqual([])
})
