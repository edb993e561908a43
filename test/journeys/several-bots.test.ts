import { expect, test } from 'vitest'
import type { Message } from '../sandbox/slack/slack.ts'
import { nimbusWorks, type Workspace } from '../sandbox/slack/workspace.ts'
import { openRecords } from './records.ts'
import { ops, people, startWorld, untilReport, untilShown, type WorldOptions } from './world.ts'

const otherWorkspace: Workspace = { ...nimbusWorks, team: { id: 'T0CUMULUS1', name: 'Cumulus', domain: 'cumulus' } }

/** Starts a bot with its own app in Slack, and the command that its manifest names. */
async function startSide(command: string, options: WorldOptions) {
  const world = await startWorld(options)
  return { world, command, records: openRecords(world), environment: options.env?.ENVIRONMENT }
}
type Side = Awaited<ReturnType<typeof startSide>>

/** Requests the move that is the same in both accounts. */
async function requestMove({ world, command }: Side): Promise<Message> {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`${command} ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const isCard = ({ isBot, text }: Message) => isBot && /needs approval from/.test(text)
  return world.slack.until(() => world.slack.messages(ops).find(isCard), { what: `the request message of ${command}` })
}

const writesOf = ({ world }: Side) => world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')
const actsOf = async ({ records }: Side) => (await records.audit()).map(({ act }) => act)

async function expectPending({ world, command }: Side): Promise<void> {
  await world.ben.command(`${command} pending`, { channel: ops })
  await untilShown(world.slack, people.ben, /^\*?1 request needs[\s\S]*Move `203\.0\.113\.10`/)
}

test.each<[string, [string, WorldOptions], [string, WorldOptions]]>([
  ['two workspaces on one Redis', ['/infra', { slack: { workspace: otherWorkspace } }], ['/infra', {}]],
  [
    'two environments in one workspace',
    ['/infra', { env: { ENVIRONMENT: 'production' } }],
    ['/infra-staging', { env: { ENVIRONMENT: 'staging' } }],
  ],
])('%s hold the same resource without a conflict, refuse the buttons of each other, and share no key of Redis', async (_, one, other) => {
  const sides = await Promise.all([startSide(...one), startSide(...other)])
  const [first, second] = sides
  const cards = await Promise.all(sides.map(requestMove))
  expect(cards.map(({ text }) => /production|staging/.exec(text)?.[0])).toEqual(sides.map(({ environment }) => environment))
  for (const side of sides) await expectPending(side)

  // Slack never delivers it there. Somebody who could forge the delivery still changes nothing.
  first.world.slack.connectBot(second.world.bots[0]?.slackUrl ?? '')
  await first.world.ben.click(cards[0] as Message, 'Approve')
  await expect.poll(() => actsOf(second)).toEqual(['request', 'refused'])
  expect(await actsOf(first)).toEqual(['request'])

  first.world.slack.connectBot(first.world.bots[0]?.slackUrl ?? '')
  await first.world.ben.click(cards[0] as Message, 'Approve')
  await untilReport(first.world.slack, cards[0]?.ts ?? '', /Done/)
  expect([writesOf(first).length, writesOf(second).length]).toEqual([1, 0])
  expect(await actsOf(first)).toEqual(['request', 'approve', 'send', 'accept', 'finish'])
  expect(second.world.slack.thread(ops, cards[1]?.ts ?? '').slice(1)).toEqual([])

  for (const { world, records } of sides) {
    const own = await records.redis.keys(`*${world.prefix}*`)
    expect(own.length).toBeGreaterThan(5)
    // Also those of the queues.
    expect(own.filter((name) => !name.startsWith(`${records.keys.queuePrefix}:`))).toEqual([])
  }
})
