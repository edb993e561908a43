import { Redis } from 'ioredis'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import { createKeys } from '../../src/redis/key-names.ts'
import type { AccountApi } from '../sandbox/account-api/start-account-api.ts'
import type { Slack } from '../sandbox/slack/slack.ts'
import { openWorld, people, type World, type WorldOptions } from './open-world.ts'

export type { AccountApi, Slack, World, WorldOptions }
export { people }

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
  })
}

type Acting = Pick<World, 'accountApi' | 'slack' | 'ada'>

/** Requests a possible move, after `skip` others. Waits for its card. */
export async function requestMove(world: Acting, { by = world.ada, skip = 0 } = {}) {
  const { elasticIp, target } = world.accountApi.world.movable(skip)
  await by.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, new RegExp(`${elasticIp.address.replaceAll('.', '\\.')}[^]*needs approval from`))
  return { elasticIp, target, card }
}

/** Ada requests a possible move, and Ben approves it. */
export async function approveMove(world: Acting & Pick<World, 'ben'>, { skip = 0 } = {}) {
  const requested = await requestMove(world, { skip })
  await world.ben.click(requested.card, 'Approve')
  return requested
}

/** Ada requests something with a key, Ben approves it, and its card waits for her click. */
export async function approvedKey({ slack }: Pick<World, 'slack'>, command = 'create ci-deploy') {
  await slack.as(people.ada).command(`/infra keys ${command}`, { channel: ops })
  await slack.as(people.ben).click(await untilCard(slack, /API key.*needs approval from/s), 'Approve')
  return untilCard(slack, /\*Approved\.\*/)
}

/** Presses a button that opens a form, and sends that. */
export async function pressAndSend(
  { slack }: Pick<World, 'slack'>,
  by: World['ben'],
  ...[message, button]: Parameters<World['ben']['click']>
) {
  await by.click(message, button)
  await slack.until(() => by.topView(), { what: 'the form' })
  return by.submit()
}

/** Approves what a window or a freeze holds. */
export async function approveHeld(world: Pick<World, 'slack'>, by: World['ben'], card: Parameters<World['ben']['click']>[0]) {
  const form = await pressAndSend(world, by, card, 'Approve')
  if (form.errors) throw new Error(JSON.stringify(form.errors))
}

/** Chooses an emergency approval in the form that is open, which then asks for the reason. */
export async function chooseEmergency(
  { slack }: Pick<World, 'slack'>,
  by: World['ben'],
  reason: string,
  choice = "Emergency approval: it doesn't wait",
) {
  await by.fill(undefined, { Approval: choice })
  await slack.until(() => JSON.stringify(by.topView()).includes('"Reason"'), { what: 'the field for the reason' })
  await by.fill(undefined, { Reason: reason })
}

/** Returns the changes of addresses and names that reached the account. */
export function patchesOf({ accountApi }: Pick<World, 'accountApi'>) {
  return accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
}

/** Sends a payload as Ada's app could, or somebody else's, also one that no app sends. Resolves with the body of the answer. */
export async function sendPayload({ slack }: Pick<World, 'slack'>, payload: object, by = people.ada): Promise<string> {
  const common = {
    user: { id: by, team_id: 'T0NIMBUS01' },
    team: { id: 'T0NIMBUS01' },
    api_app_id: 'A0LOCKKEEP',
    trigger_id: `t-${Math.random()}`,
  }
  return (await slack.sendRaw({ body: new URLSearchParams({ payload: JSON.stringify({ ...common, ...payload }) }).toString() })).body
}

/** Returns a page of the port for operations. */
export async function opsPage({ bots: [bot] }: Pick<World, 'bots'>, path = '/metrics'): Promise<string> {
  return (await fetch(`http://127.0.0.1:${bot?.opsPort}${path}`)).text()
}

/** Returns a figure of the metrics. `labels` is a part of a pattern. */
export async function figure(world: Pick<World, 'bots'>, name: string, labels = ''): Promise<number> {
  return Number(new RegExp(`^${name}${labels} (\\d+)$`, 'm').exec(await opsPage(world))?.[1])
}

/** Lets Slack refuse the next two messages that would show a secret. */
export function hideSecrets({ slack }: Pick<World, 'slack'>) {
  return [
    slack.faults.add({ method: 'response_url', kind: 'status', status: 404, times: 1 }),
    slack.faults.add({ method: 'chat.postEphemeral', kind: 'error', error: 'user_not_in_channel', times: 1 }),
  ]
}

/** Lets the bots read the lists of the account again, as they do after 10 s. */
export async function forgetLists({ prefix }: World): Promise<void> {
  const redis = new Redis(inject('redisUrl'))
  const names = ['elasticIps', 'servers', 'virtualMachines', 'plans', 'baselines', 'apiKeys']
  await redis.del(...names.map((name) => createKeys(prefix).list(name).copy))
  redis.disconnect()
}
