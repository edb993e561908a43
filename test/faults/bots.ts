import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { botProgram, botPrograms } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'

/** Returns the bot with short waits. Ablations, which come as options of Node, find the modules that they change only in the files of `src/`. */
function usualProgram(nodeOptions: string[]): string {
  return nodeOptions.length > 0 ? botPrograms['bot-for-faults'] : botProgram('bot-for-faults')
}

export interface BotsOptions {
  /** The file to run. Default: the bot with short waits. */
  program?: string
  nodeOptions?: string[]
  own?: (index: number) => Record<string, string>
  /** The number of bots that start at once. The others wait for `start`. Default: all. */
  atOnce?: number
}

/** Runs real bots as processes that can be killed and started again. `log` holds every line that any of them wrote. */
export async function startBots(
  count: number,
  env: Record<string, string>,
  { nodeOptions = [], program = usualProgram(nodeOptions), own = () => ({}), atOnce = count }: BotsOptions = {},
) {
  const log: string[] = []
  const crashes: string[] = []
  // The system chooses the port at the first start, because a free port may be taken a moment later. The bot keeps that port.
  const bots = Array.from({ length: count }, () => ({
    port: 0,
    alertsPort: 0,
    machinesPort: 0,
    opsPort: 0,
    child: undefined as ChildProcess | undefined,
  }))
  let kills = 0

  function botOf(index: number) {
    const bot = bots[index % bots.length]
    if (!bot) throw new Error(`no bot ${index}`)
    return bot
  }

  /** A bot that takes alerts or machines keeps the ports of its first start, too. */
  function otherPortsOf({ alertsPort, machinesPort }: { alertsPort: number; machinesPort: number }): Record<string, string> {
    return {
      ...('ALERTS_PORT' in env && { ALERTS_PORT: String(alertsPort) }),
      ...('MACHINES_PORT' in env && { MACHINES_PORT: String(machinesPort) }),
    }
  }

  function start(index: number): Promise<void> {
    const bot = botOf(index)
    const started = Promise.withResolvers<void>()
    const child = endsWithUs(
      spawn(process.execPath, [...nodeOptions, program], {
        env: { ...systemEnvironment(), ...env, ...own(index), PORT: String(bot.port), OPS_PORT: '0', ...otherPortsOf(bot) },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    bot.child = child
    let rest = ''
    const read = (chunk: Buffer) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      log.push(...lines)
      // The operations port opens first, and has pages while the bot waits for something.
      const starting = lines.find((line) => line.includes('Lockkeeper is starting'))
      if (starting) bot.opsPort = Number(/"opsPort":(\d+)/.exec(starting)?.[1])
      const ready = lines.find((line) => line.includes('Lockkeeper is ready'))
      if (!ready) return
      // A worker has none.
      bot.port = Number(/"slackPort":(\d+)/.exec(ready)?.[1] ?? 0)
      bot.alertsPort = Number(/"alertsPort":(\d+)/.exec(ready)?.[1] ?? 0)
      bot.machinesPort = Number(/"machinesPort":(\d+)/.exec(ready)?.[1] ?? 0)
      started.resolve()
    }
    child.stdout.on('data', read)
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      log.push(String(chunk))
      said += chunk
    })
    child.once('exit', (code, signal) => {
      started.resolve()
      if (bot.child === child && signal !== 'SIGKILL' && code !== 0) crashes.push(`bot ${index} ended with ${code ?? signal}: ${said}`)
    })
    return started.promise
  }

  /** Ends a bot if it runs. Returns its exit code and how long it took, in ms. */
  async function end(index: number, signal: NodeJS.Signals): Promise<{ code: number | null; ms: number } | undefined> {
    const bot = botOf(index)
    const { child } = bot
    if (!child || child.exitCode !== null || child.signalCode !== null) return undefined
    kills += 1
    bot.child = undefined
    const startedAt = performance.now()
    const ended = once(child, 'exit')
    child.kill(signal)
    const [code] = await ended
    return { code: code as number | null, ms: performance.now() - startedAt }
  }

  async function kill(index: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await end(index, signal)
  }

  function signal(index: number, name: NodeJS.Signals): void {
    const sent = botOf(index).child?.kill(name)
    if (!sent) throw new Error(`bot ${index} could not be sent ${name}`)
  }

  await Promise.all(bots.slice(0, atOnce).map((_, index) => start(index)))
  if (crashes.length > 0) throw new Error(crashes.join('\n'))

  return {
    url: (index: number) => `http://127.0.0.1:${botOf(index).port}/slack/events`,
    alertsUrl: (index: number) => `http://127.0.0.1:${botOf(index).alertsPort}/alerts/alertmanager`,
    machinesUrl: (index = 0) => `http://127.0.0.1:${botOf(index).machinesPort}`,
    opsUrl: (index: number) => `http://127.0.0.1:${botOf(index).opsPort}`,
    page: (index: number, path: string) => fetch(`http://127.0.0.1:${botOf(index).opsPort}${path}`),
    pid: (index: number) => botOf(index).child?.pid,
    start,
    end,
    kill,
    signal,
    kills: () => kills,
    log,
    crashes,
    stop: async () => {
      await Promise.all(bots.map((_, index) => kill(index)))
    },
  }
}
export type Bots = Awaited<ReturnType<typeof startBots>>
