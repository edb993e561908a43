import { randomBytes } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Secret } from '../../src/domain/signing.ts'
import { closeRedis, connectRedis, guardStore, holdCommands } from '../../src/redis/connect.ts'

/** Opens a prompt connection whose commands are held, and another connection that reads what the first has written. */
async function connectHeld() {
  const url = new Secret(inject('redisUrl'))
  const held = connectRedis(url, 'prompt', () => {})
  let refusal: string | undefined
  const release = holdCommands(held, () => refusal)
  const refuseWith = (code: string) => {
    refusal = code
  }
  const other = connectRedis(url, 'patient', () => {})
  const key = `test-${randomBytes(6).toString('hex')}`
  onTestFinished(async () => void (await Promise.all([closeRedis(held), closeRedis(other)])))
  await expect.poll(() => held.status).toBe('ready')
  return { held, release, refuseWith, other, key }
}

test('a held connection answers PING, and rejects every command that reads or writes', async () => {
  const { held, other, key } = await connectHeld()

  expect(await held.ping()).toBe('PONG')
  await expect(held.set(key, '1')).rejects.toThrow('not been checked')
  await expect(held.get(key)).rejects.toThrow('not been checked')
  await expect(held.eval('return redis.call("set", KEYS[1], "1")', 1, key)).rejects.toThrow('not been checked')
  const together = await held.multi().set(key, '1').exec().catch(String)
  expect(String(together)).toContain('not been checked')
  expect(await other.get(key)).toBeNull()
})

test('a held connection rejects every command with the code of the refusal that the check found', async () => {
  const { held, refuseWith, key } = await connectHeld()
  await expect(guardStore(() => held.get(key))).rejects.toMatchObject({ name: 'StoreUnavailableError', code: undefined })

  refuseWith('OOM')

  await expect(guardStore(() => held.get(key))).rejects.toMatchObject({ name: 'StoreUnavailableError', code: 'OOM' })
  await expect(guardStore(() => held.multi().get(key).exec())).rejects.toMatchObject({ name: 'StoreUnavailableError', code: 'OOM' })
})

test('a connection runs every command after its release', async () => {
  const { held, release, key } = await connectHeld()

  release()

  expect(await held.set(key, '1', 'EX', 60)).toBe('OK')
  expect(await held.multi().get(key).del(key).exec()).toEqual([
    [null, '1'],
    [null, 1],
  ])
})

test('a queue that was opened on a held connection accepts jobs after the release', async () => {
  const { held, release, key } = await connectHeld()
  const errors: Error[] = []
  const queue = new Queue('held', { connection: held as never, prefix: key })
  queue.on('error', (error) => errors.push(error))
  onTestFinished(() => queue.obliterate({ force: true }).then(() => queue.close()))
  await queue.waitUntilReady()

  release()
  await queue.add('wake', {})

  expect(await queue.getJobCounts('wait')).toEqual({ wait: 1 })
  expect(errors).toEqual([])
})
