import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { environment, startProcess } from '../start-process.ts'

/** Other tests run at the same time, and starting takes long then. */
const startsWithinMs = 30_000
const patience = { timeout: 60_000 }

/** Whether something listens there. All of 127.0.0.0/8 is this machine, so 127.0.0.2 stands for an address that is not the loopback address. */
async function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy())
}

async function portsOf(bot: Awaited<ReturnType<typeof startProcess>>) {
  await bot.untilReady(startsWithinMs)
  const { opsPort } = JSON.parse(/^.*"opsPort".*$/m.exec(bot.output())?.[0] ?? '{}') as { opsPort: number }
  return { opsPort, slackPort: Number(new URL(bot.slackUrl()).port) }
}

const startBoth = (one: Record<string, string>, other: Record<string, string>) =>
  Promise.all([startProcess(one).then(portsOf), startProcess(other).then(portsOf)])

describe('a neighbour on the network', patience, () => {
  test('reaches the operations port only with OPS_HOST, and the public port unless HOST keeps it on the loopback address', async () => {
    const { env } = await environment()

    const [usual, configured] = await startBoth(env, { ...env, OPS_HOST: '0.0.0.0', HOST: '127.0.0.1' })

    expect([await isOpen('127.0.0.1', usual.opsPort), await isOpen('127.0.0.2', usual.opsPort)]).toEqual([true, false])
    expect(await isOpen('127.0.0.2', usual.slackPort)).toBe(true)
    expect(await isOpen('127.0.0.2', configured.opsPort)).toBe(true)
    expect([await isOpen('127.0.0.1', configured.slackPort), await isOpen('127.0.0.2', configured.slackPort)]).toEqual([true, false])
  })
})

describe('a process of the same user', patience, () => {
  const root = resolve(import.meta.dirname, '../..')
  const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const [, imageCommand = '[]'] = /^CMD (\["node".*)$/m.exec(readFileSync(resolve(root, 'Dockerfile'), 'utf8')) ?? []

  test.each([
    ['npm start', scripts.start?.split(' && exec ')[1]?.split(' ') ?? []],
    ['the image', JSON.parse(imageCommand) as string[]],
  ])('sends SIGUSR1 to what %s started, and no debugger opens', async (_, command) => {
    const { env } = await environment()
    const options = command.slice(1, -1)
    expect([command[0], command.at(-1)]).toEqual(['node', 'src/main.ts'])
    const bot = await startProcess(env, { options })
    await bot.untilReady(startsWithinMs)

    bot.child.kill('SIGUSR1')
    await pause(500)

    expect(bot.errors()).not.toContain('Debugger listening')
  })
})
