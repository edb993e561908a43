import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findOrInstall, findProgram } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

const run = promisify(execFile)

/** The names under which the Dockerfile and docker-compose.yml want their bases, and what the real ones set. */
const bases: Record<string, string> = { 'node:24-slim': 'CMD ["node"]', 'redis:8.2': 'WORKDIR /data' }
const names = Object.keys(bases)

/**
 * Makes images with the names of the bases from Debian's packages, for an engine that cannot pull: a minimal Debian with this Node, this
 * machine's npm and Debian's Redis. They are no replacement for the real ones: the public checks build with those.
 */
export async function makeBaseImages(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const debootstrap = await findOrInstall({
    names: ['debootstrap'],
    packages: ['debootstrap'],
    missing: 'There is no debootstrap on this machine, which makes the base of the image.',
    advice: 'The base images cannot be pulled, and there is no debootstrap. Run the command again where images can be pulled.',
  })
  const base = join(folder, 'base')
  process.stderr.write(`Making ${names.join(' and ')} from Debian's packages, because images cannot be pulled (about 2 minutes) …\n`)
  await run(debootstrap, ['--variant=minbase', '--include=ca-certificates,redis-server', 'bookworm', base, await mirror()], {
    maxBuffer: 100_000_000,
  })
  await addNode(base)
  await mkdir(join(base, 'data'))
  await run('chroot', [base, 'sh', '-c', 'useradd --uid 1000 --create-home node && chown redis:redis /data'])
  await Promise.all(names.map((name) => importImage(base, name, environment)))
}

/** Returns the address from which this machine installs its packages. */
async function mirror(): Promise<string> {
  const { stdout } = await run('apt-cache', ['policy', 'base-files'])
  return /(https?:\/\/\S+debian\/?)\s+bookworm\/main/.exec(stdout)?.[1] ?? 'http://deb.debian.org/debian'
}

/** Adds the Node of this run, and npm as this machine has it: with the certificates that it trusts. */
async function addNode(base: string): Promise<void> {
  const local = join(base, 'usr/local')
  await cp(process.execPath, join(local, 'bin/node'))
  await chmod(join(local, 'bin/node'), 0o755)
  const cli = await realpath(findProgram(['npm'], '/usr/bin:/usr/local/bin') ?? 'npm')
  await cp(dirname(dirname(cli)), join(local, 'lib/node_modules/npm'), { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  await writeFile(join(base, certificates), await readFile(certificates))
  await mkdir(join(local, 'etc'), { recursive: true })
  await writeFile(join(local, 'etc/npmrc'), `cafile=${certificates}\n`)
}

async function importImage(base: string, name: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const archive = spawn('tar', ['--create', '--directory', base, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const load = spawn('docker', ['import', '--change', bases[name] ?? '', '-', name], {
    env: environment,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  archive.stdout.pipe(load.stdin)
  const [code] = await once(load, 'close')
  if (code !== 0) throw new Error(`docker import ${name} ended with ${code}`)
}

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
  // The engine calls programs of administrators, such as iptables.
  process.env.PATH = `${process.env.PATH}:/usr/sbin:/sbin`
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
    if (child.kill('SIGTERM')) await ended
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

const root = resolve(import.meta.dirname, '../..')

/** Stands for every secret that an operator has beside the code. */
export const canary = 'canary-in-a-coal-mine-7f3a'

/** Removes the digests of the bases from the files of a copy for the own engine, which has made its bases itself. */
export async function unpinBases({ isOwn }: { isOwn: boolean }, folder: string): Promise<void> {
  if (!isOwn) return
  for (const file of ['Dockerfile', 'docker-compose.yml']) {
    const path = join(folder, file)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(/@sha256:[0-9a-f]{64}/g, ''))
  }
}

/** Copies what an operator has: the code, the compose file, and settings and secrets, which must not get into the image. */
export async function copyProject(engine: { isOwn: boolean }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-image-'))
  const files = ['Dockerfile', '.dockerignore', '.npmrc', 'package.json', 'package-lock.json', 'docker-compose.yml', 'src']
  for (const file of files) await cp(join(root, file), join(folder, file), { recursive: true })
  await unpinBases(engine, folder)
  await mkdir(join(folder, 'secrets'), { mode: 0o755 })
  await writeFile(join(folder, '.env'), `ENVIRONMENT=${canary}\n`)
  await writeFile(join(folder, 'secrets/infra_api_key'), canary)
  await writeFile(join(folder, 'src/../id_rsa'), canary)
  return folder
}

export const versionOf = async () => JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version as string
