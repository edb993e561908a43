import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { findProgram, freePort } from '../sandbox/programs.ts'
import { findRedisServer } from '../sandbox/redis/start-redis.ts'
import { startWatchdog } from '../sandbox/watchdog.ts'
import { issueCertificate } from './certificates.ts'

const examples = resolve(import.meta.dirname, '../../deploy/redis')
const users = ['LOCKKEEPER', 'OPERATOR', 'REPLICA', 'SENTINEL'] as const

export interface ExampleOptions {
  /** The names in the example, and what they are in this test. */
  replace?: Record<string, string>
  /** Settings that come after those of the example. */
  settings?: string[]
}

/** Prepares servers from `deploy/redis/`, on loopback, with new passwords and certificates. Everything ends with the test. */
export async function prepareExamples() {
  const folder = await mkdtemp(join(tmpdir(), 'lockkeeper-examples-'))
  const watchdog = startWatchdog({ folder })
  onTestFinished(() => watchdog.end())
  const tls = join(folder, 'tls')
  await mkdir(tls)
  const authority = await issueCertificate(tls, 'redis', ['DNS:localhost'])
  const passwords = Object.fromEntries(users.map((user) => [user, randomBytes(16).toString('hex')])) as Record<
    (typeof users)[number],
    string
  >
  const program = await findRedisServer()

  /** Copies the examples as an operator would: into a folder of the server, with its passwords and names. */
  async function install(own: string, port: number, replace: Record<string, string>): Promise<void> {
    const values: Record<string, string> = { '/etc/redis/tls': tls, '/etc/redis': own, '/var/lib/redis': join(own, 'data'), ...replace }
    for (const user of users) {
      values[`${user}_SHA256`] = createHash('sha256').update(passwords[user]).digest('hex')
      values[`${user}_PASSWORD`] = passwords[user]
    }
    values['redis-1.example.com'] ??= 'localhost'
    await mkdir(join(own, 'data'), { recursive: true })
    for (const file of await readdir(examples)) {
      const text = await readFile(join(examples, file), 'utf8')
      const changed = Object.entries(values).reduce((result, [from, to]) => result.replaceAll(from, to), text)
      const listening = changed.replace(/^bind .*$/m, 'bind 127.0.0.1 -::1').replace(/^tls-port .*$/m, `tls-port ${port}`)
      await writeFile(join(own, file), listening, { mode: 0o600 })
    }
  }

  /** Starts one server with a file of the examples. */
  async function start(file: string, { replace = {}, settings = [] }: ExampleOptions = {}) {
    const port = await freePort()
    const own = join(folder, String(port))
    await install(own, port, replace)
    const path = join(own, file)
    await writeFile(path, `${await readFile(path, 'utf8')}\n${settings.join('\n')}\n`)
    let child: ChildProcess | undefined

    async function run(): Promise<void> {
      const mode = file === 'sentinel.conf' ? ['--sentinel'] : []
      child = spawn(program, [path, ...mode], { stdio: ['ignore', 'pipe', 'pipe'] })
      if (child.pid !== undefined) watchdog.guard(child.pid)
      await untilReady(child)
    }

    /** Ends it with a signal. */
    async function end(signal: NodeJS.Signals): Promise<void> {
      const ended = child && once(child, 'exit')
      child?.kill(signal)
      await ended
    }

    await run()
    return { port, data: join(own, 'data'), run, end }
  }

  /** Runs redis-cli as the operator. The password is in the environment, and not among the arguments, which everybody can read. */
  async function cli(port: number, ...args: string[]): Promise<string> {
    const cliProgram = findProgram([program.replace(/server$/, 'cli'), 'redis-cli', 'valkey-cli']) ?? 'redis-cli'
    const access = ['-h', 'localhost', '-p', String(port), '--tls', '--cacert', authority, '--user', 'operator', '--no-auth-warning']
    const child = spawn(cliProgram, [...access, ...args], { env: { ...process.env, REDISCLI_AUTH: passwords.OPERATOR } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`redis-cli ${args.join(' ')}: ${output}`)
    return output
  }

  const urlOf = (scheme: string, ports: number[], path = '') =>
    `${scheme}://lockkeeper:${passwords.LOCKKEEPER}@${ports.map((port) => `localhost:${port}`).join(',')}${path}`

  return { authority, start, cli, urlOf }
}

/** Resolves when it accepts connections. If it ends instead, rejects with its output. */
async function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      output = `${output}${data}`.slice(-4_000)
      if (/ready to accept connections|Sentinel ID is/i.test(output)) resolve()
    })
  }
  child.once('exit', (code, signal) => reject(new Error(`Redis ended with ${code ?? signal}:\n${output}`)))
  child.once('error', reject)
  await promise
}
