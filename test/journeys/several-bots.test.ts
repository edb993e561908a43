import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createKeys } from '../../src/redis/key-names.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { nimbusWorks, type Workspace } from '../sandbox/slack/workspace.ts'
import { openRecords } from './records.ts'
import { ops, people, startWorld, untilReport, untilShown, type World, type WorldOptions } from './world.ts'

const otherWorkspace: Workspace = { ...nimbusWorks, team: { id: 'T0CUMULUS1', name: 'Cumulus', domain: 'cumulus' } }

/** A bot with its own app in Slack, and the command that its manifest names. */
interface Side {
  world: World
  command: string
  records: ReturnType<typeof openRecords>
}

async function startSide(command: string, options: WorldOptions): Promise<Side> {
  const world = await startWorld(options)
  return { world, command, records: openRecords(world) }
}

/** Requests the move that is the same in both accounts. */
async function requestMove({ world, command }: Side): Promise<Message> {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`${command} ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  return world.slack.until(() => world.slack.messages(ops).find(({ isBot, text }) => isBot && /needs approval from/.test(text)), {
    what: `the request message of ${command}`,
  })
}

const writesOf = ({ world }: Side) => world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')

async function pendingOf({ world, command }: Side, count: string): Promise<string> {
  await world.ben.command(`${command} pending`, { channel: ops })
  return (await untilShown(world.slack, people.ben, new RegExp(`^\\*?${count}`))).text
}

/** The names of all keys in Redis that belong to a bot. */
async function keysOf({ world }: Side): Promise<string[]> {
  const redis = new Redis(inject('redisUrl'))
  onTestFinished(() => redis.disconnect())
  return redis.keys(`*${world.prefix}*`)
}

describe.each([
  ['two workspaces on one Redis', '/infra', { slack: { workspace: otherWorkspace } }, '/infra', {}],
  [
    'two environments in one workspace',
    '/infra',
    { env: { ENVIRONMENT: 'production' } },
    '/infra-staging',
    { env: { ENVIRONMENT: 'staging' } },
  ],
])('%s', (_, firstCommand, firstOptions: WorldOptions, secondCommand, secondOptions: WorldOptions) => {
  const startBoth = () => Promise.all([startSide(firstCommand, firstOptions), startSide(secondCommand, secondOptions)])

  test('hold the same resource without a conflict, and each lists and carries out its own requests alone', async () => {
    const [first, second] = await startBoth()
    const cards = await Promise.all([requestMove(first), requestMove(second)])
    expect(cards.map(({ text }) => /production|staging/.exec(text)?.[0])).toEqual(
      [firstOptions, secondOptions].map(({ env }) => env?.ENVIRONMENT),
    )
    expect(await pendingOf(first, '1 request needs')).toContain('Move 203.0.113.10')
    expect(await pendingOf(second, '1 request needs')).toContain('Move 203.0.113.10')

    await first.world.ben.click(cards[0], 'Approve')
    await untilReport(first.world.slack, cards[0].ts, /Done/)

    expect(writesOf(first)).toHaveLength(1)
    expect(writesOf(second)).toEqual([])
    expect(await pendingOf(second, '1 request needs')).toContain('Move 203.0.113.10')
    expect((await first.records.audit()).map(({ act }) => act)).toEqual(['request', 'approve', 'send', 'accept', 'finish'])
    expect((await second.records.audit()).map(({ act }) => act)).toEqual(['request'])
    expect(second.world.slack.thread(ops, cards[1].ts).slice(1)).toEqual([])
  })

  test('refuse the buttons of each other', async () => {
    const [first, second] = await startBoth()
    const card = await requestMove(first)

    // Slack never delivers it there. Somebody who could forge the delivery still changes nothing.
    first.world.slack.connectBot(second.world.bots[0]?.slackUrl ?? '')
    await first.world.ben.click(card, 'Approve')

    await expect.poll(async () => (await second.records.audit()).map(({ act }) => act)).toEqual(['refused'])
    expect((await first.records.audit()).map(({ act }) => act)).toEqual(['request'])
    expect([...writesOf(first), ...writesOf(second)]).toEqual([])
  })

  test('keep nothing under the same name in Redis', async () => {
    const [first, second] = await startBoth()
    await Promise.all([requestMove(first), requestMove(second)])

    const [own, others] = await Promise.all([keysOf(first), keysOf(second)])

    expect(own.length).toBeGreaterThan(5)
    expect(own.filter((name) => others.includes(name))).toEqual([])
    // Also those of the queues.
    const tags = [first, second].map(({ world }) => createKeys(world.prefix).queuePrefix)
    expect([...own, ...others].filter((name) => !tags.some((tag) => name.startsWith(`${tag}:`)))).toEqual([])
  })
})

test('a bot answers with the command in its manifest', async () => {
  const { world } = await startSide('/infra-staging', { env: { ENVIRONMENT: 'staging' } })

  await world.ada.command('/infra-staging help', { channel: ops })
  const help = await untilShown(world.slack, people.ada, /infra-staging/)
  await world.ada.command('/infra-staging ip mvoe', { channel: ops })
  const refusal = await untilShown(world.slack, people.ada, /isn't a command/)

  for (const { text } of [help, refusal]) {
    expect(text).toContain('/infra-staging ')
    expect(text).not.toMatch(/\/infra(?!-staging)/)
  }
})
