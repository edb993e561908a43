import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOrInstall, freePort } from '../programs.ts'
import { endChild, endsWithUs, temporaryFolder } from '../watchdog.ts'

const advice = [
  'There is no Redis on this machine, and Lockkeeper stores its requests in one. Do one of these and run the command again:',
  '  Debian, Ubuntu:  sudo apt-get install redis-server',
  '  macOS:           brew install redis',
  '  Docker:          docker run --detach --publish 6379:6379 redis:7 redis-server --appendonly yes',
  '                   and set REDIS_URL=redis://127.0.0.1:6379',
  'Or set REDIS_URL to a Redis that you have.',
].join('\n')

export function findRedisServer(): Promise<string> {
  return findOrInstall({
    names: ['redis-server', 'valkey-server'],
    packages: ['redis-server'],
    missing: 'There is no Redis on this machine.',
    advice,
  })
}

export interface StartRedisOptions {
  /** Keeps its data in an append-only file, which survives `kill` and `restart`. Default: false. */
  appendonly?: boolean
  /** Additional lines of its configuration file: `maxmemory 8mb`. */
  settings?: string[]
  /** Servers that work together share a password. Default: a new one. */
  password?: string
  /** `sentinel`: monitors other servers instead of keeping data, and rewrites its own configuration. */
  mode?: 'server' | 'sentinel'
}

/** The time limit for the start, in ms. */
const patienceMs = 20_000
/** Another process may take the free port before Redis does. */
const tries = 5

/**
 * Starts a Redis on loopback: on a free port, with a password, without eviction, in a folder that is removed at the end. It ends with this
 * process, even if that is killed.
 */
export async function startRedis({
  appendonly = false,
  settings = [],
  password = randomBytes(18).toString('hex'),
  mode = 'server',
}: StartRedisOptions = {}) {
  const program = await findRedisServer()
  const { folder, remove } = await temporaryFolder('redis')
  let port = 0
  let server: ChildProcess | undefined

  async function startAt(wanted: number): Promise<void> {
    const file = join(folder, 'redis.conf')
    const lines = [
      'bind 127.0.0.1',
      `port ${wanted}`,
      `dir ${JSON.stringify(folder)}`,
      'daemonize no',
      ...(mode === 'server' ? serverSettings() : []),
      ...settings,
    ]
    // A file and not arguments, because every user of the machine can read arguments.
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
    const args = mode === 'sentinel' ? [file, '--sentinel'] : [file]
    server = endsWithUs(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true }))
    server.unref()
    await untilReady(server)
  }

  function serverSettings(): string[] {
    return [`requirepass ${password}`, 'save ""', `appendonly ${appendonly ? 'yes' : 'no'}`, 'maxmemory-policy noeviction']
  }

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        port = await freePort()
        return await startAt(port)
      } catch (error) {
        if (attempt < tries && error instanceof Error && /Address already in use|bind/i.test(error.message)) continue
        await remove()
        throw error
      }
    }
  }

  await start()

  return {
    get url() {
      return `redis://:${password}@127.0.0.1:${port}`
    },
    get port() {
      return port
    },
    password,
    /** The folder of its append-only file. */
    folder,

    /** Sends SIGKILL: data that is not written yet is lost. */
    kill: () => endChild(server, 'SIGKILL'),

    /** Sends SIGSTOP: connections stay open without answers. */
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),

    /** Stops it if it still runs, and starts it with the same address, folder and password. */
    async restart(): Promise<void> {
      await endChild(server)
      await startAt(port)
    },

    async stop(): Promise<void> {
      // A frozen process does not receive the signal to end.
      server?.kill('SIGCONT')
      await endChild(server)
      await remove()
    },
  }
}

export type Redis = Awaited<ReturnType<typeof startRedis>>

async function untilReady(child: ChildProcess): Promise<void> {
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (why: string) => reject(new Error(`Redis did not start: ${why}\n${said.trim()}`))
  const timer = setTimeout(() => fail(`not ready after ${patienceMs / 1000} s.`), patienceMs)
  const listen = (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4000)
    if (/ready to accept connections|Sentinel ID is/i.test(said)) resolve()
  }
  const onExit = (code: number | null, signal: string | null) => fail(`it ended with ${code ?? signal}.`)
  child.stdout?.on('data', listen)
  child.stderr?.on('data', listen)
  child.once('exit', onExit)
  child.once('error', (error) => fail(error.message))
  try {
    await promise
  } finally {
    clearTimeout(timer)
    child.off('exit', onExit)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.off('data', listen)
      // Keep reading, or Redis would block on its output. The open stream must not keep this process alive.
      stream?.resume()
      if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
    }
  }
}

/** Returns the Redis of `REDIS_URL`, which is left running, or starts one. */
export async function findRedis(options: StartRedisOptions = {}): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env.REDIS_URL
  if (given) return { url: given, stop: async () => {} }
  return startRedis(options)
}
