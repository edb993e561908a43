import { expect } from 'vitest'
import type { Message } from '../sandbox/slack/slack.ts'
import { policyInFile } from './policy-in-file.ts'
import { openRecords, type Records } from './records.ts'
import { ops, people, startWorld, type World, type WorldOptions } from './world.ts'

export const finn = 'U0FIN00001'

/** Starts a world under a policy, with Finn as an additional colleague. */
export async function startWorldUnder(policy: string, { env = {}, staff: more, ...options }: WorldOptions = {}) {
  const staff: WorldOptions['staff'] = (workspace) => {
    workspace.people.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
    for (const channel of workspace.channels) channel.members.push(finn)
    const groups = { network: [people.ben, finn], security: [people.ben, people.chiara] }
    workspace.userGroups.push({ id: 'S0NETWORK1', handle: 'network', name: 'Network', members: groups.network })
    workspace.userGroups.push({ id: 'S0SECURE01', handle: 'security', name: 'Security', members: groups.security })
    more?.(workspace)
  }
  const world = await startWorld({ ...options, staff, env: { ...env, POLICY_FILE: policyInFile(policy) } })
  return { ...world, finn: world.slack.as(finn), records: openRecords(world) }
}
export type PolicyWorld = Awaited<ReturnType<typeof startWorldUnder>>

/** Stops the bot and starts another one. */
export async function restart(world: World, whileDown: () => Promise<unknown> = async () => {}) {
  await world.bots[0]?.stop()
  await whileDown()
  const bot = await world.startBot()
  world.bots.splice(0, 1, bot)
  world.slack.connectBot(bot.slackUrl)
}

/** Returns the writes that reached the account API. */
export const writesOf = (world: World) => world.accountApi.journal.writes()
/** Returns the messages in the thread of a card. */
export const repliesTo = (world: World, { ts }: Message) => world.slack.thread(ops, ts).slice(1)
/** Returns a card as it is now. */
export const cardNow = (world: World, { ts }: Message) => world.slack.messages(ops).find((message) => message.ts === ts)

/** Replaces what differs from run to run. */
export function steady(text: string | undefined): string {
  return (text ?? '').replaceAll(/<!date\^\d+\^[^>]*>/g, 'TIME').replaceAll(/`[0-9a-f]{8}`/g, '`ID`')
}

/** Returns the only stored request. */
export async function onlyRequest(records: Records) {
  const [request, ...others] = await records.all()
  expect(others).toEqual([])
  if (!request) throw new Error('there is no request')
  return request
}
