import { inject, onTestFinished } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts'
import type { World } from '../journeys/world.ts'

export type RunningBot = Awaited<ReturnType<World['startBot']>>

/**
 * `lose`: Redis does what it is asked, its answer is lost, and the connection with it. `crash`: in that moment the process ends.
 * `before`: so many of the exchanges about the request in question come first, of whatever connection of this replica.
 */
export interface Fault {
  is: 'lose' | 'crash'
  replica: number
  before: number
}

export interface ArmedFault {
  fired: () => boolean
  /** Takes it back where it has not fired; resolves once there are two whole replicas again. A crash comes at the latest now. */
  mend: () => Promise<void>
}

interface Replica {
  bot: RunningBot
  toRedis: TcpProxy
  toAccount: TcpProxy
}

/** Two bots, each behind proxies of its own to Redis and to the account. `prepare` sees each one that is started. */
export async function startReplicas({ startBot, accountApi }: Pick<World, 'startBot' | 'accountApi'>, prepare: (bot: RunningBot) => void) {
  onTestFinished(async () => void (await Promise.all(replicas.map(end))))
  const replicas = await Promise.all([startOne(), startOne()])

  async function startOne(): Promise<Replica> {
    const redisUrl = new URL(inject('redisUrl'))
    const toRedis = await startTcpProxy({ port: Number(redisUrl.port), host: redisUrl.hostname })
    const toAccount = await startTcpProxy({ port: Number(new URL(accountApi.url).port) })
    redisUrl.hostname = '127.0.0.1'
    redisUrl.port = String(toRedis.port)
    const accountUrl = new URL(accountApi.url)
    accountUrl.port = String(toAccount.port)
    const bot = await startBot({ REDIS_URL: redisUrl.href, INFRA_API_URL: accountUrl.href.replace(/\/$/, '') })
    prepare(bot)
    return { bot, toRedis, toAccount }
  }

  async function end({ bot, toRedis, toAccount }: Replica): Promise<void> {
    await bot.stop()
    await Promise.all([toRedis.close(), toAccount.close()])
  }

  function at(index: number): Replica {
    const replica = replicas[index % replicas.length]
    if (!replica) throw new Error(`there is no replica ${index}`)
    return replica
  }

  /**
   * Stands for the end of a process without grace. The bots run in this process, so what ends is everything by which one could still do
   * something: from one moment to the next it reaches neither Redis nor the account, for good, and nothing is flushed. What it had under
   * way runs into that. It may still tell Slack's people that it cannot reach its memory, which a process that is gone cannot; the model
   * takes that for no answer. A new bot takes its place, on a port of its own; what is left of the old one is stopped meanwhile.
   */
  function cut({ toRedis, toAccount }: Replica): void {
    toRedis.refuse()
    toAccount.refuse()
  }

  async function replace(index: number): Promise<void> {
    const old = at(index)
    cut(old)
    replicas[index % replicas.length] = await startOne()
    // Not waited for, not even when the test ends: a stop that cannot reach Redis takes its full seven seconds.
    void end(old)
  }

  /** The fault comes with an exchange with Redis in which one of these is named. */
  function arm({ is, replica: index, before }: Fault, names: string[]): ArmedFault {
    const replica = at(index)
    let hasFired = false
    const fits = (sent: Buffer) => names.some((name) => sent.includes(name))
    const disarm = replica.toRedis.loseReplyTo(fits, {
      before,
      andThen: () => {
        hasFired = true
        if (is === 'crash') cut(replica)
      },
    })
    const mend = async () => {
      disarm()
      if (is === 'crash') await replace(index)
      else if (hasFired) await untilWhole(replica)
    }
    return { fired: () => hasFired, mend }
  }

  /** People's connection is back: from then on nobody is told that it is not. */
  async function untilWhole({ bot }: Replica): Promise<void> {
    const until = Date.now() + 5_000
    while (!(await reachesRedis(bot))) {
      if (Date.now() > until) throw new Error('a bot has not found back to Redis within 5 s')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  return {
    slackUrl: (index: number) => at(index).bot.slackUrl,
    arm,
    close: async () => void (await Promise.all(replicas.map(({ bot }) => bot.stop()))),
  }
}

async function reachesRedis({ opsPort }: RunningBot): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/status`)
  const { checks } = (await answer.json()) as { checks: { redis: { ok: boolean } } }
  return checks.redis.ok
}
