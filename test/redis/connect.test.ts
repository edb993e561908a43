import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import type { Request } from '../../src/domain/request.ts'
import { Secret } from '../../src/domain/signing.ts'
import { withChildren } from '../../src/record/children.ts'
import { connectRedis, type Redis, readAnswers } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'

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

test('answers that are lost in the middle of a pipeline are a Redis that does not answer, and a damaged key is none', async () => {
  const lost = {
    exec: async () => [[null, 'first'] as never, [new Error('Reached the max retries per request limit'), undefined] as never],
  }
  await expect(readAnswers(lost)).rejects.toThrow(StoreUnavailableError)
  const damaged = { exec: async () => [[null, 'first'] as never, [new Error('WRONGTYPE Operation'), undefined] as never] }
  expect(await readAnswers(damaged)).toEqual(['first', undefined])
})

test('the record of a change under way whose further reads are lost is a Redis that does not answer', async () => {
  const pipeline = { get: () => pipeline, hmget: () => pipeline, exec: async () => [[new Error('Connection is closed.'), undefined]] }
  const underway = { id: 'r1', state: 'tracking', moreResources: [] } as unknown as Request
  const read = withChildren({ redis: { pipeline: () => pipeline } as unknown as Redis, keys: createKeys('test') }, [underway])
  await expect(read).rejects.toThrow(StoreUnavailableError)
})
