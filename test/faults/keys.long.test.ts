import { describe, expect, test } from 'vitest'
import { approvedKey, ops, people, startWorld, untilReport, untilShown, type World } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { startScene } from './scene.ts'

type Places = Pick<World, 'slack' | 'accountApi'>

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

const isSecret = (args: object) => JSON.stringify(args).includes('Your new API key')
const ofKeys = { path: /api_keys/ }

test.each<[what: string, plan: (world: World) => { fired: number }[], fired: number[], end: RegExp, isKept: boolean, told?: RegExp]>([
  [
    'a key whose creation takes effect long after its connection broke is deleted',
    ({ accountApi }) => [accountApi.faults.add({ method: 'POST', ...ofKeys, kind: 'late', delayMs: 6_000 })],
    [1],
    /Failed|Not started/,
    false,
  ],
  [
    'a key whose message Slack confirms only while its deletion is due is reported as deleted, also to the person who saw it',
    ({ slack, accountApi }) => [
      slack.faults.add({ method: 'response_url', kind: 'delay', delayMs: 2_000 }),
      accountApi.faults.add({ method: 'DELETE', ...ofKeys, kind: 'delay', delayMs: 3_000 }),
    ],
    [1, 1],
    /Failed/,
    false,
    /took too long.*Don't use it/,
  ],
  [
    'a key stays if one answer to its message is lost: it is shown again to the same person',
    ({ slack }) => [slack.faults.add({ method: 'response_url', kind: 'drop-after', when: isSecret })],
    [1],
    /Done/,
    true,
  ],
  [
    'a key is deleted if every answer to its message is lost, whether or not it was seen',
    ({ slack }) => [
      slack.faults.add({ method: 'response_url', kind: 'drop-after', times: 3, when: isSecret }),
      slack.faults.add({ method: 'chat.postEphemeral', kind: 'drop-after', when: isSecret }),
    ],
    [3, 1],
    /Failed/,
    false,
    /deleted the new key/,
  ],
])('%s, and that is reported once', async (_, plan, fired, end, isKept, told) => {
  const world = await startWorld({ timings: { graceMs: 600, unsettledMs: fired.length === 1 && !isKept ? 15_000 : 600, handoverMs: 800 } })
  const card = await approvedKey(world)
  const planned = plan(world)
  await world.ada.click(card, 'Create key')

  await expect.poll(() => world.accountApi.world.issuedTokens.length).toBe(1)
  await untilReport(world.slack, card.ts, end)
  await expect.poll(() => liveKeys(world).length).toBe(isKept ? 1 : 0)
  expect(planned.map((each) => each.fired)).toEqual(fired)
  const replies = world.slack.thread(ops, card.ts).slice(1)
  expect(replies.filter(({ text }) => /Done|Failed|Not started/.test(text))).toHaveLength(1)
  if (isKept) expect(shownTokens(world)).toEqual(liveKeys(world).map(({ token }) => token))
  if (told) await untilShown(world.slack, people.ada, told)
})
