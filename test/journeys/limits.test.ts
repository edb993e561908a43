import { describe, expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import { addresses, requestEvacuation, withAddresses } from './evacuations.ts'
import {
  forgetLists,
  ops,
  people,
  requestMove,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
  type World,
  type WorldOptions,
} from './world.ts'

/** A minute of the account takes this long here. */
const windowMs = 5_000

const shipped = { INFRA_READS_PER_MINUTE: '60', INFRA_WRITES_PER_MINUTE: '20', MOVE_POLL_BUDGET: '20', MOVE_POLL_INTERVAL: '500ms' }

const strict = {
  env: shipped,
  timings: { ...usualTimings, accountWindowMs: windowMs },
  account: { limits: { ...documentedLimits, windowMs }, moveTakes: { min: 300, max: 300 } },
} satisfies WorldOptions

const accepted = ({ accountApi }: World) => accountApi.journal.writes().filter(({ refused }) => !refused)

describe('another tool has used up the writes of the minute', () => {
  test('an approved move waits for its turn, says so, and is sent once', async () => {
    const world = await startWorld(strict)
    const { card } = await requestMove(world)
    world.accountApi.limiter.useByAnotherTool('write')

    await world.ben.click(card, 'Approve')
    const waiting = await untilCard(world.slack, /Starts in about/)
    await untilReport(world.slack, card.ts, /\*Done\.\*/)

    expect(waiting.text).toMatch(/\*Approved\.\* Starts in about \d+\u00a0s: the account allows 20 changes a minute\./)
    expect(waiting.text).not.toMatch(/Not started|Couldn't/)
    expect(accepted(world)).toHaveLength(1)
    expect(world.accountApi.limiter.refused('write')).toBe(1)
  })

  test('a press on Create key is answered with when to press again, and nothing is made without it', async () => {
    const world = await startWorld(strict)
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
    const card = await untilCard(world.slack, /press \*Create key\*/)
    world.accountApi.limiter.useByAnotherTool('write')

    await world.ada.click(card, 'Create key')
    const answer = await untilShown(world.slack, people.ada, /Press again/)
    expect(answer.text).toMatch(/The account allows 20 changes a minute\. Press again in \d+\u00a0s\.$/)
    await world.ada.click(await untilCard(world.slack, /press \*Create key\*/), 'Create key')
    expect(accepted(world)).toEqual([])

    world.accountApi.limiter.forgetAnotherTool()
    await expect
      .poll(
        async () => {
          if (accepted(world).length === 0) await world.ada.click(await untilCard(world.slack, /Create key/), 'Create key')
          return accepted(world).length
        },
        { timeout: 20_000, interval: 1_000 },
      )
      .toBe(1)
    await untilReport(world.slack, card.ts, /\*Done\.\*/)
  })
})

describe('the own budget', () => {
  test('an evacuation of 25 addresses sends all of them as the account allows', async () => {
    const world = await startWorld(withAddresses(addresses(25), strict))
    const card = await requestEvacuation(world)
    expect(card.text).toContain('Takes about 1\u00a0min.')

    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /The rest takes about 1\u00a0min\./)
    await untilReport(world.slack, card.ts, /\*Done\.\*/)

    expect(accepted(world)).toHaveLength(25)
    expect([world.accountApi.limiter.refused('read'), world.accountApi.limiter.refused('write')]).toEqual([0, 0])
  })

  test('a member without any right who lists again and again keeps no approved move from being sent', async () => {
    const world = await startWorld({ ...strict, timings: usualTimings, account: { ...strict.account, limits: documentedLimits } })
    const finn = 'U0FINN0001'
    world.slack.workspace.people.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
    for (const channel of world.slack.workspace.channels) channel.members.push(finn)
    const { card } = await requestMove(world)
    for (let time = 0; time < 20; time += 1) {
      // Otherwise the shared copies answer nearly all of them.
      await forgetLists(world)
      await world.slack.as(finn).command(`/infra ${time % 2 === 0 ? 'servers' : 'ip list'}`, { channel: ops })
      await world.slack.until(() => world.slack.ephemerals(finn).length > time)
    }
    await untilShown(world.slack, finn, /You've used your 16 of the account's 60 reads a minute\./)

    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /\*Done\.\*/)

    const updates = world.slack.journal.filter(({ method }) => method === 'chat.update')
    expect(JSON.stringify(updates)).not.toContain('Starts in about')
    expect([world.accountApi.limiter.refused('read'), world.accountApi.limiter.refused('write')]).toEqual([0, 0])
  })
})
