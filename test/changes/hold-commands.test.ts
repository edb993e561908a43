import { randomBytes } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect, inject, onTestFinished, test } from 'vitest'
import { closeRedis, connectRedis, holdCommands } from '../../src/changes/redis.ts'
import { Secret } from '../../src/domain/secret.ts'

/** One of the bot's own connections, held, and another one that sees what the first has written. */
async function connectHeld() {
  const url = new Secret(inject('redisUrl'))
  const held = connectRedis(url, 'prompt', () => {})
  const letPass = holdCommands(held)
  const other = connectRedis(url, 'patient', () => {})
  const key = `test-${randomBytes(6).toString('hex')}`
  onTestFinished(async () => void (await Promise.all([closeRedis(held), closeRedis(other)])))
  await expect.poll(() => held.status).toBe('ready')
  return { held, letPass, other, key }
}

test('a connection that is held tells whether Redis answers, and reads and writes nothing', async () => {
  const { held, other, key } = await connectHeld()

  expect(await held.ping()).toBe('PONG')
  await expect(held.set(key, '1')).rejects.toThrow('not been checked')
  await expect(held.get(key)).rejects.toThrow('not been checked')
  await expect(held.eval('return redis.call("set", KEYS[1], "1")', 1, key)).rejects.toThrow('not been checked')
  const together = await held.multi().set(key, '1').exec().catch(String)
  expect(String(together)).toContain('not been checked')
  expect(await other.get(key)).toBeNull()
})

test('it does everything once commands may pass', async () => {
  const { held, letPass, key } = await connectHeld()

  letPass()

  expect(await held.set(key, '1', 'EX', 60)).toBe('OK')
  expect(await held.multi().get(key).del(key).exec()).toEqual([
    [null, '1'],
    [null, 1],
  ])
})

test('a queue that was opened while it was held takes jobs afterwards', async () => {
  const { held, letPass, key } = await connectHeld()
  const errors: Error[] = []
  const queue = new Queue('held', { connection: held as never, prefix: key })
  queue.on('error', (error) => errors.push(error))
  onTestFinished(() => queue.obliterate({ force: true }).then(() => queue.close()))
  await queue.waitUntilReady()

  letPass()
  await queue.add('wake', {})

  expect(await queue.getJobCounts('wait')).toEqual({ wait: 1 })
  expect(errors).toEqual([])
})
