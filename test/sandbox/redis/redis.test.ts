import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'

test('it ends and leaves no folder behind when its parent is killed with SIGKILL', async () => {
  const program = `
    const { startRedis } = await import(${JSON.stringify(new URL('./start-redis.ts', import.meta.url).href)})
    const { Redis } = await import(${JSON.stringify(import.meta.resolve('ioredis'))})
    const redis = await startRedis()
    const client = new Redis(redis.url)
    const [, folder] = await client.config('GET', 'dir')
    console.log(JSON.stringify({ port: redis.port, folder }))
  `
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: parent.stdout }), 'line')
  const { port, folder } = JSON.parse(line)
  expect(await isListening(port)).toBe(true)

  parent.kill('SIGKILL')

  await expect.poll(async () => (await isListening(port)) || existsSync(folder), { timeout: 10_000 }).toBe(false)
})

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  const answer = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'close').then(() => false)]).catch(() => false)
  socket.destroy()
  return answer
}
