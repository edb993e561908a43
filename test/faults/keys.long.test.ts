import { describe, expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World, type WorldOptions } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { startScene } from './scene.ts'

const quick = { graceMs: 600, unsettledMs: 600, handoverMs: 800 }

type Places = Pick<World, 'slack' | 'accountApi'>

async function approvedKey({ slack }: Places): Promise<Message> {
  await slack.as(people.ada).command('/infra keys create ci-deploy', { channel: ops })
  await slack.as(people.ben).click(await untilCard(slack, /needs approval from/), 'Approve')
  return untilCard(slack, /\*Approved\.\*/)
}

function liveKeys({ accountApi }: Places) {
  return accountApi.world.data.apiKeys.filter(({ name }) => name.startsWith('ci-deploy'))
}

function writes({ accountApi }: Places, method: string) {
  return accountApi.journal.writes().filter((entry) => entry.method === method)
}

function shownTokens({ slack, accountApi }: Places): string[] {
  const seen = JSON.stringify(slack.ephemerals(people.ada).map(({ blocks }) => blocks))
  return accountApi.world.issuedTokens.filter((token) => seen.includes(token))
}

describe('a bot that is killed', () => {
  /** Ada clicks. The bot is killed when the account API gets the request of this fault, and another bot starts. */
  async function killedAt(order: FaultOrder, unshown: boolean) {
    const world = await startScene()
    const { slack, accountApi, bots } = world
    const card = await approvedKey(world)
    const killed = Promise.withResolvers<void>()
    const fault = accountApi.faults.add({ ...order, meanwhile: () => void bots.kill(0).then(killed.resolve) })
    if (unshown) {
      slack.faults.add({ method: 'response_url', kind: 'status', status: 404, times: 3 })
      slack.faults.add({ method: 'chat.postEphemeral', kind: 'error', error: 'user_not_in_channel' })
    }
    const click = world.ada.click(card, 'Create key')
    await killed.promise
    await click
    await bots.start(0)
    return { ...world, card, fault }
  }

  test('during the preflight check has created nothing, and the next click creates the key and shows it', async () => {
    const world = await killedAt({ method: 'GET', path: /api_keys/, kind: 'delay', delayMs: 500 }, false)
    expect(writes(world, 'POST')).toEqual([])

    await world.ada.click(world.card, 'Create key')
    await untilReport(world.slack, world.card.ts, /Done/)

    expect(world.fault.fired).toBe(1)
    expect(writes(world, 'POST')).toHaveLength(1)
    expect(shownTokens(world)).toEqual(liveKeys(world).map(({ token }) => token))
  })

  test.each<[string, FaultOrder, RegExp]>([
    ['that is carried out', { kind: 'delay', delayMs: 500 }, /Not started.*wasn't created, or it's already deleted/],
    ['that is not', { kind: 'drop-before' }, /Failed.*Nobody saw the token.*deleted it/],
  ])('at the deletion of a key that Slack did not show, %s, leaves no key', async (_, order, words) => {
    const world = await killedAt({ method: 'DELETE', path: /api_keys/, ...order }, true)

    await untilReport(world.slack, world.card.ts, words)

    expect(world.fault.fired).toBe(1)
    expect(liveKeys(world)).toEqual([])
    expect(shownTokens(world)).toEqual([])
    expect(writes(world, 'POST')).toHaveLength(1)
  })
})

/** Ada's key is approved, and this goes wrong when she presses *Create key*. */
async function createInto<Planned>(plan: (world: World) => Planned, options: WorldOptions = {}) {
  const world = await startWorld({ timings: quick, ...options })
  const card = await approvedKey(world)
  const planned = plan(world)
  await world.ada.click(card, 'Create key')
  return { ...world, card, planned, untilEnd: (fits = /Failed/) => untilReport(world.slack, card.ts, fits) }
}

const isSecret = (args: object) => JSON.stringify(args).includes('Your new API key')

test('a key whose creation takes effect late is deleted, and reported once', async () => {
  // The connection breaks at once. What was sent on it takes effect much later.
  const late = { method: 'POST', path: /api_keys/, kind: 'late', delayMs: 6_000 } as const
  const world = await createInto(({ accountApi }) => accountApi.faults.add(late), { timings: { ...quick, unsettledMs: 15_000 } })

  await expect.poll(() => world.accountApi.world.issuedTokens.length).toBe(1)
  await expect.poll(() => liveKeys(world)).toEqual([])
  await world.untilEnd(/Failed|Not started/)
  expect(world.planned.fired).toBe(1)
  expect(shownTokens(world)).toEqual([])
})

test('a key that was shown while its deletion was due is reported as deleted, also to the person who saw it', async () => {
  const world = await createInto(({ slack, accountApi }) => [
    // Slack accepts the message, but confirms it too late.
    slack.faults.add({ method: 'response_url', kind: 'delay', delayMs: 2_000 }),
    accountApi.faults.add({ method: 'DELETE', path: /api_keys/, kind: 'delay', delayMs: 3_000 }),
  ])

  await world.untilEnd()

  expect(world.planned.map(({ fired }) => fired)).toEqual([1, 1])
  expect(liveKeys(world)).toEqual([])
  expect(world.slack.thread(ops, world.card.ts).filter(({ text }) => /Done/.test(text))).toEqual([])
  await untilShown(world.slack, people.ada, /took too long.*Don't use it/)
})

test('a created key stays if one answer to its message is lost: it is shown again to the same person', async () => {
  const world = await createInto(({ slack }) => slack.faults.add({ method: 'response_url', kind: 'drop-after', when: isSecret }))

  await world.untilEnd(/Done/)

  expect(world.planned.fired).toBe(1)
  expect(shownTokens(world)).toEqual(liveKeys(world).map(({ token }) => token))
  expect(liveKeys(world)).toHaveLength(1)
})

test('a created key is deleted if every answer to its message is lost, whether or not it was seen, and that is reported', async () => {
  const world = await createInto(({ slack }) => [
    slack.faults.add({ method: 'response_url', kind: 'drop-after', times: 3, when: isSecret }),
    slack.faults.add({ method: 'chat.postEphemeral', kind: 'drop-after', when: isSecret }),
  ])

  await world.untilEnd()

  expect(world.planned.map(({ fired }) => fired)).toEqual([3, 1])
  expect(liveKeys(world)).toEqual([])
  await untilShown(world.slack, people.ada, /deleted the new key/)
})
