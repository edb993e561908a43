import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Acknowledged, Load } from './clients.ts'
import {
  botEnvironment,
  cpuSeconds,
  type Effort,
  exchange,
  fixed,
  forkClient,
  interleave,
  judged,
  median,
  programOf,
  ratio,
  signingSecret,
  startProgram,
  table,
  withRedis,
} from './measure.ts'

const base = 'Bolt `HTTPReceiver`, echo'
/** The work for any command, before and after its acknowledgement. */
const bot = 'Lockkeeper, with de-duplication and authorization'
const programs = {
  [base]: ['servers', 'bolt-echo'],
  'the same, without its store of conversations': ['servers', 'bolt-echo-without-store'],
  '`node:http` and HMAC': ['servers', 'bare-http'],
  [bot]: ['bot-without-answers'],
} as const
type Variant = keyof typeof programs
const variants = Object.keys(programs) as Variant[]

const connections = 16
const most = 1.3

/** `wallMs` and `cpuMs`: of one command. */
interface Figures extends Acknowledged {
  cpuMs: number
  redisCommands: number
}

export function benchAcknowledge({ quick, rounds }: Effort): Promise<string> {
  const count = quick ? 20 : 1_000
  // Short rounds are close together, so that other work on the machine affects all variants alike.
  const shortRounds = quick ? rounds : 3 * rounds
  return withRedis(async (redis) => {
    const admin = new Redis(redis.url)
    const outside = await startProgram(programOf('servers'), 'port')
    const outsideUrl = `http://127.0.0.1:${JSON.parse(outside.line).port}`
    const generator = forkClient('load')
    const running = Object.fromEntries(await Promise.all(variants.map(async (variant) => [variant, await start(variant)])))

    function start(variant: Variant) {
      const [name, ...args] = programs[variant]
      const env = botEnvironment({ outsideUrl, redisUrl: redis.url, prefix: `bench-${variants.indexOf(variant)}` })
      return startProgram(programOf(name), variant === bot ? 'slackPort' : 'port', { args, env })
    }

    async function measure(variant: Variant): Promise<Figures> {
      const { pid, line } = running[variant]
      const { port, slackPort = port } = JSON.parse(line)
      const before = { cpu: cpuSeconds(pid), commands: await redisCommands(admin) }
      const load: Load = { port: slackPort, connections, count, secret: signingSecret, responseUrl: `${outsideUrl}/answer` }
      const acknowledged = await exchange<Acknowledged>(generator, load)
      // Work after the last acknowledgement counts as well.
      await delay(200)
      return {
        ...acknowledged,
        wallMs: acknowledged.wallMs / count,
        cpuMs: ((cpuSeconds(pid) - before.cpu) * 1_000) / count,
        redisCommands: ((await redisCommands(admin)) - before.commands) / count,
      }
    }

    if (!quick) await interleave(variants, 3, measure)
    const text = describe(await interleave(variants, shortRounds, measure), count)
    for (const variant of variants) running[variant].stop()
    generator.disconnect()
    outside.stop()
    admin.disconnect()
    return text
  })
}

function describe(figures: Record<Variant, Figures[]>, count: number): string {
  const rows = variants.map((variant) => {
    const of = (figure: keyof Figures) => ratio(figures[variant], figures[base], (one) => one[figure])
    const middle = (figure: keyof Figures) => median(figures[variant].map((one) => one[figure]))
    const cpu = of('cpuMs')
    const target = judged(cpu, variant === bot ? most : undefined)
    return [
      variant,
      fixed(middle('cpuMs'), 3),
      fixed(cpu),
      ...target,
      ...(['wallMs', 'p50', 'p99'] as const).map((figure) => fixed(of(figure))),
      fixed(middle('redisCommands'), 1),
    ]
  })
  const head = ['', 'CPU ms', 'CPU', 'target', '', 'wall time', 'ack p50', 'ack p99', 'Redis commands']
  return `c = ${connections} (${figures[base].length} rounds of ${count} commands)\n\n${table(head, rows)}`
}

async function redisCommands(admin: Redis): Promise<number> {
  const stats = await admin.info('commandstats')
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
  return calls.reduce((sum, [, name, count]) => sum + (name === 'info' ? 0 : Number(count)), 0)
}
