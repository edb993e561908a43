import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { ops, people, untilCard, untilReport } from '../journeys/world.ts'
import { findOrInstall, findProgram, freePort } from '../sandbox/programs.ts'
import { findRedisServer } from '../sandbox/redis/start-redis.ts'
import { endChild, endsWithUs, temporaryFolder } from '../sandbox/watchdog.ts'
import { environment, startProcess } from '../start-process.ts'

const run = promisify(execFile)

/**
 * Writes a new certificate authority into a folder, `ca.crt`, and a certificate that it issued for these names: `<file>.crt` and
 * `<file>.key`. Returns the path of `ca.crt`.
 */
export async function issueCertificate(folder: string, file: string, names: string[]): Promise<string> {
  const openssl = await findOrInstall({
    names: ['openssl'],
    packages: ['openssl'],
    missing: 'There is no openssl on this machine, which makes the certificates of this test.',
    advice: 'There is no openssl on this machine. Install it and run the command again.',
  })
  const [ca, caKey, certificate, key] = ['ca.crt', 'ca.key', `${file}.crt`, `${file}.key`].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  const create = (...args: string[]) =>
    run(openssl, ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...args])
  await create('-keyout', caKey, '-out', ca, '-subj', '/CN=An authority of the tests')
  await create(
    ...['-keyout', key, '-out', certificate, '-subj', `/CN=${file}`, '-CA', ca, '-CAkey', caKey],
    ...['-addext', `subjectAltName=${names.join(',')}`, '-addext', 'basicConstraints=CA:FALSE'],
  )
  return ca
}

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
  const { folder, remove } = await temporaryFolder('examples')
  const started: ChildProcess[] = []
  onTestFinished(async () => {
    await Promise.all(started.map((child) => endChild(child, 'SIGKILL')))
    await remove()
  })
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

  /** Starts one server with a file of the examples. Another process may take its port, or that of its cluster bus, meanwhile. */
  async function start(file: string, options: ExampleOptions = {}, tries = 5): Promise<Awaited<ReturnType<typeof startOnce>>> {
    try {
      return await startOnce(file, options)
    } catch (error) {
      if (tries > 1 && String(error).includes('Address already in use')) return start(file, options, tries - 1)
      throw error
    }
  }

  async function startOnce(file: string, { replace = {}, settings = [] }: ExampleOptions) {
    const port = await freePort()
    const own = join(folder, String(port))
    await install(own, port, replace)
    const path = join(own, file)
    await writeFile(path, `${await readFile(path, 'utf8')}\n${settings.join('\n')}\n`)
    let child: ChildProcess | undefined

    async function run(): Promise<void> {
      const mode = file === 'sentinel.conf' ? ['--sentinel'] : []
      child = endsWithUs(spawn(program, [path, ...mode], { stdio: ['ignore', 'pipe', 'pipe'] }))
      started.push(child)
      await untilReady(child)
    }

    await run()
    return { port, data: join(own, 'data'), run, end: (signal: NodeJS.Signals) => endChild(child, signal) }
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

export type Examples = Awaited<ReturnType<typeof prepareExamples>>

/** Starts the bot as a process with this Redis, which it must accept: durable, without eviction, and with a certificate that it trusts. */
export async function startBot({ authority }: Examples, url: string, more: Record<string, string> = {}) {
  const { slack, accountApi, env } = await environment({
    REDIS_URL: url,
    REDIS_PREFIX: 'lockkeeper',
    ALLOW_VOLATILE_REDIS: 'false',
    NODE_EXTRA_CA_CERTS: authority,
    ...more,
  })
  const bot = await startProcess(env)
  await bot.untilReady(20_000)
  slack.connectBot(bot.slackUrl())
  const world = { slack, accountApi, bot, env }
  await untilWell(world)
  return world
}

export type World = Awaited<ReturnType<typeof startBot>>

/** Resolves when the bot reaches Redis, and its worker works. */
export async function untilWell({ bot }: Pick<World, 'bot'>): Promise<void> {
  await expect.poll(async () => (await bot.page('/status')).body, { timeout: 40_000 }).toMatchObject({ ok: true })
}

/** Has the movable Elastic IP moved, from the command to the report. */
export async function move({ slack, accountApi }: World): Promise<void> {
  const { elasticIp, target } = accountApi.world.movable()
  await slack.as(people.ada).command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  await slack.as(people.ben).click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
}
