import { Redis } from 'ioredis'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import { createKeys } from '../../src/redis/key-names.ts'
import type { AccountApi } from '../sandbox/account-api/start-account-api.ts'
import type { Slack } from '../sandbox/slack/slack.ts'
import { openWorld, type World, type WorldOptions } from './open-world.ts'

export { people } from './open-world.ts'
export type { AccountApi, Slack, World, WorldOptions }

export const ops = 'C0OPS00001'
/** The channel with everybody except the bot. */
export const general = 'C0GENERAL1'

/** Opens a world on the Redis of the tests. Closes it when the test ends. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(inject('redisUrl'), options)
  onTestFinished(world.close)
  return world
}

/** Opens one world for all tests of a block that do not disturb each other. Returns a function that returns it. */
export function shareWorld(options: WorldOptions = {}): () => World {
  let world: World
  beforeAll(async () => {
    world = await openWorld(inject('redisUrl'), options)
  })
  afterAll(() => world?.close())
  return () => world
}

/** Resolves with the newest card in a channel whose text fits. */
export function untilCard(slack: Slack, fits: RegExp, channel = ops) {
  return slack.until(() => slack.messages(channel).findLast((message) => message.isBot && fits.test(message.text)), {
    what: `a card like ${fits}`,
    timeoutMs: 20_000,
  })
}

/** Resolves with the newest ephemeral message to a person whose text fits. */
export function untilShown(slack: Slack, userId: string, fits: RegExp) {
  return slack.until(() => slack.ephemerals(userId).findLast((message) => fits.test(message.text)), {
    what: `an ephemeral message like ${fits}`,
  })
}

/** Resolves with the thread below a card once one of its messages fits. */
export function untilReport(slack: Slack, cardTs: string, fits: RegExp, channel = ops) {
  return slack.until(() => slack.thread(channel, cardTs).find((message) => message.ts !== cardTs && fits.test(message.text)), {
    what: `a report like ${fits}`,
    timeoutMs: 20_000,
  })
}

/** Lets the bots read the lists of the account again, as they do after 10 s. */
export async function forgetLists({ prefix }: World): Promise<void> {
  const redis = new Redis(inject('redisUrl'))
  const names = ['elasticIps', 'servers', 'virtualMachines', 'plans', 'baselines', 'apiKeys']
  await redis.del(...names.map((name) => createKeys(prefix).list(name).copy))
  redis.disconnect()
}
