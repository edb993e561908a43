import { inject, onTestFinished } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts'
import type { World } from '../journeys/world.ts'

export type RunningBot = Awaited<ReturnType<World['startBot']>>

/**
 * `lose`: Redis executes a command, and its answer and connection are lost. `crash`: the process ends at that moment. `before`: how many
 * exchanges about the request come first, over any connection of this replica.
 */
export interface Fault {
  is: 'lose' | 'crash'
  replica: number
  before: number
}

export interface ArmedFault {
  fired: () => boolean
  /** Disarms the fault if it has not happened. Resolves once there are two whole replicas again. A crash happens now at the latest. */
  mend: () => Promise<void>
}

interface Replica {
  bot: RunningBot
  toRedis: TcpProxy
  toAccount: TcpProxy
}

/** Starts two bots, each behind its own proxies to Redis and to the account API. `prepare` is called with each bot that is started. */
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
   * Simulates the crash of a process. The bots run in this process, so their connections to Redis and to the account API end for good at
   * one moment, and nothing is flushed. The old bot may still answer that it cannot reach Redis, which a dead process cannot. The model
   * takes that for no answer. A new bot with its own port replaces it, and the rest of the old one is stopped meanwhile.
   */
  function cut({ toRedis, toAccount }: Replica): void {
    toRedis.refuse()
    toAccount.refuse()
  }

  async function replace(index: number): Promise<void> {
    const old = at(index)
    cut(old)
    replicas[index % replicas.length] = await startOne()
    // It is not awaited, not even at the end of the test: a stop without Redis takes seven seconds.
    void end(old)
  }

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

  /** Waits until the connection for people works again. From then on no answer says otherwise. */
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
