import { expect } from 'vitest'
import { ops, people, untilCard, untilReport } from '../journeys/world.ts'
import { environment, startProcess } from '../start-process.ts'
import type { prepareExamples } from './redis-examples.ts'

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
