import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findOrInstall } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'
import { makeBaseImages } from './base-images.ts'

const run = promisify(execFile)
const advice = 'There is no container engine on this machine. Start Docker, or run the command as root on Debian 12, and run it again.'

/**
 * Returns an engine: the one of this machine if it answers, and otherwise a new one, with all its data in a temporary folder, which
 * `stop` ends and removes. Throws if there is none and none can be installed.
 */
export async function startEngine() {
  const found = await run('docker', ['info']).then(
    () => true,
    () => false,
  )
  if (found) return { environment: process.env, isOwn: false, docker: dockerIn(process.env), stop: async () => {} }
  return startOwnEngine()
}
export type Engine = Awaited<ReturnType<typeof startEngine>>

async function startOwnEngine() {
  const packages = ['docker.io', 'docker-compose']
  const missing = 'No container engine answers, and there is none on this machine to start.'
  const daemon = await findOrInstall({ names: ['dockerd'], packages, missing, advice })
  if (process.getuid?.() !== 0) throw new Error(advice)
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-engine-'))
  const socket = `unix://${join(folder, 'docker.sock')}`
  const environment = { ...process.env, DOCKER_HOST: socket, DOCKER_BUILDKIT: '0' }
  process.stderr.write(`Starting a container engine in ${folder}. It is removed in the end.\n`)
  const hadBridge = await hasBridge()
  const log = openSync(join(folder, 'log'), 'w')
  const args = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '-H', socket, '--pidfile', join(folder, 'pid')]
  const child = endsWithUs(spawn(daemon, args, { stdio: ['ignore', log, log], detached: true }))
  closeSync(log)

  async function stop(): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    await unmountBelow(folder)
    if (!hadBridge) await run('ip', ['link', 'delete', 'docker0'])
    await rm(folder, { recursive: true, force: true })
  }

  const docker = dockerIn(environment)
  try {
    await untilAnswers(docker, join(folder, 'log'))
    await makeBaseImages(folder, environment)
  } catch (error) {
    await stop()
    throw error
  }
  return { environment, isOwn: true, docker, stop }
}

/** Whether there is the network that engines share. The own engine removes it if it made it. */
const hasBridge = () =>
  run('ip', ['link', 'show', 'docker0']).then(
    () => true,
    () => false,
  )

/** Unmounts what the engine leaves behind: the network namespace of the host. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).toReversed()) await run('umount', [mount])
}

async function untilAnswers(docker: ReturnType<typeof dockerIn>, log: string): Promise<void> {
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    if (await docker('info').catch(() => undefined)) return
    await delay(500)
  }
  throw new Error(`The container engine did not start:\n${(await readFile(log, 'utf8')).slice(-3_000)}`)
}

/** Returns a function that runs docker, and resolves with what it prints. */
function dockerIn(environment: NodeJS.ProcessEnv) {
  return async (...args: string[]): Promise<string> => {
    const { stdout } = await run('docker', args, { env: environment, maxBuffer: 100_000_000 })
    return stdout.trim()
  }
}
