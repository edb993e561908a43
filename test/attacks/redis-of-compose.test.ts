import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../sandbox/programs.ts'
import { findRedisServer } from '../sandbox/redis/start-redis.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

const password = 'a-password-from-a-secret'

/** Runs the command of docker-compose.yml with a Redis of this machine, on a free port of the loopback address and in a new folder. */
async function startAsCompose(secret: string): Promise<{ child: ChildProcess; port: number; script: string }> {
  const compose = parse(await readFile(resolve(import.meta.dirname, '../../docker-compose.yml'), 'utf8'))
  const [shell, option, script] = compose.services.redis.command as [string, string, string]
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-compose-'))
  await writeFile(join(folder, 'redis_password'), `${secret}\n`)
  const port = await freePort()
  const here = script
    .replaceAll('$$', '$')
    .replaceAll('/run/secrets', folder)
    .replace('redis-server -', `${await findRedisServer()} - --bind 127.0.0.1 --port ${port} --dir ${folder}`)
  const child = endsWithUs(spawn(shell, [option, here], { stdio: 'ignore' }))
  onTestFinished(async () => {
    if (child.exitCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true })
  })
  return { child, port, script }
}

/** Sends commands over a new connection. Returns the answers, or nothing if no server listens. */
async function say(port: number, ...commands: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').end([...commands, 'QUIT', ''].join('\r\n'))
  return text(socket).catch(() => '')
}

describe('a container beside Redis', () => {
  test('connects without the password of the secret, and may do nothing', async () => {
    const { port, script } = await startAsCompose(password)

    await expect.poll(() => say(port, 'PING')).toMatch(/^-NOAUTH /)
    expect(await say(port, 'CONFIG GET dir')).toMatch(/^-NOAUTH /)
    expect(await say(port, 'AUTH wrong')).toMatch(/^-WRONGPASS /)
    expect(await say(port, `AUTH ${password}`, 'CONFIG GET appendfsync')).toMatch(/^\+OK\r\n[\s\S]*always/)
    // Arguments of a process can be read by all others.
    expect(script.slice(0, script.indexOf('<<'))).not.toMatch(/\$|secrets/)
  })

  test('finds no open Redis where the secret was left empty, because Redis does not start', async () => {
    const { child } = await startAsCompose('')

    expect(await once(child, 'exit')).toEqual([1, null])
  })
})
