import type { Message } from '../sandbox/slack/slack.ts'
import { type PolicyWorld, startWorldUnder } from './policy-world.ts'
import { general, ops, people, untilCard, type World, type WorldOptions } from './world.ts'

export const rules = `rules:
  - { name: alone, changes: ip.move, approve: [S0ONCALL01, ${people.ada}], self_approval: break-glass }
  - { name: free, changes: vm.rename, approve: none }
  - { name: others, approve: [S0ONCALL01] }
  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }`

/** Starts a world in which people can freeze. The operators' channel is another one than that of the requests. */
export async function start({ policy = rules, ...options }: WorldOptions & { policy?: string } = {}) {
  const world = await startWorldUnder(policy, { ...options, env: { OPS_CHANNEL: general, ...options.env } })
  world.slack.invite(general, 'U0LOCKKEEP')
  return world
}

export async function freeze({ ben, slack }: World, words = 'because the network is being rebuilt') {
  await ben.command(`/infra freeze ${words}`, { channel: ops })
  return untilCard(slack, /\*(Frozen|Freeze planned)\* by <@U0BEN00001>/)
}

export const unfreeze = ({ ben }: World) => ben.command('/infra unfreeze', { channel: ops })

/** The messages in a channel, apart from threads, whose text fits. */
export const saidIn = ({ slack }: World, channel: string, fits: RegExp) =>
  slack.messages(channel).filter(({ isBot, threadTs, text }) => isBot && threadTs === undefined && fits.test(text))

export const untilSaid = (world: World, channel: string, fits: RegExp) => untilCard(world.slack, fits, channel)

export const buttonsOf = (message: Message | undefined) => JSON.stringify(message?.blocks ?? []).match(/"action_id":"[^"]*"/g) ?? []

export const notes = async ({ records }: PolicyWorld) => (await records.audit()).filter(({ act }) => act === 'freeze' || act === 'unfreeze')
