import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../sandbox/free-port.ts'

const program = fileURLToPath(new URL('./bot-for-faults.ts', import.meta.url))

export interface BotsOptions {
  nodeOptions?: string[]
  /** What one of them has beyond the rest, by its index. */
  own?: Record<string, string>[]
  /** How many are started at once; the others wait for `start`. Default: all. */
  atOnce?: number
}

/** Real bots as processes that are killed and started again; `log` holds every line that any of them wrote. */
export async function startBots(
  count: number,
  env: Record<string, string>,
  { nodeOptions = [], own = [], atOnce = count }: BotsOptions = {},
) {
  const log: string[] = []
  /** Ends that nobody asked for. */
  const crashes: string[] = []
  const bots = await Promise.all(
    Array.from({ length: count }, async () => ({ port: await freePort(), child: undefined as ChildProcess | undefined })),
  )
  let kills = 0

  function start(index: number): Promise<void> {
    const bot = bots[index]
    if (!bot) throw new Error(`no bot ${index}`)
    const started = Promise.withResolvers<void>()
    const child = spawn(process.execPath, [...nodeOptions, program], {
      env: { ...env, ...own[index], PORT: String(bot.port), OPS_PORT: '0', PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    bot.child = child
    let rest = ''
    const read = (chunk: Buffer) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      log.push(...lines)
      if (lines.some((line) => line.includes('Lockkeeper is ready'))) started.resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', (chunk: Buffer) => log.push(String(chunk)))
    child.once('exit', (code, signal) => {
      started.resolve()
      if (bot.child === child && signal !== 'SIGKILL' && code !== 0) crashes.push(`bot ${index} ended with ${code ?? signal}`)
    })
    return started.promise
  }

  async function kill(index: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const bot = bots[index]
    const child = bot?.child
    if (!bot || !child || child.exitCode !== null || child.signalCode !== null) return
    kills += 1
    bot.child = undefined
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** A signal that does not end it. */
  function signal(index: number, name: NodeJS.Signals): void {
    const sent = bots[index]?.child?.kill(name)
    if (!sent) throw new Error(`bot ${index} could not be sent ${name}`)
  }

  await Promise.all(bots.slice(0, atOnce).map((_, index) => start(index)))

  return {
    url: (index: number) => `http://127.0.0.1:${bots[index % bots.length]?.port}/slack/events`,
    start,
    kill,
    signal,
    kills: () => kills,
    log,
    crashes,
    stop: async () => void (await Promise.all(bots.map((_, index) => kill(index)))),
  }
}
export type Bots = Awaited<ReturnType<typeof startBots>>
