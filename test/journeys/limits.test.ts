import { describe, expect, test } from 'vitest'
import { accepted, strict } from './strict-world.ts'
import { approvedKey, people, requestMove, startWorld, untilCard, untilReport, untilShown } from './world.ts'

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
    const card = await approvedKey(world)
    world.accountApi.limiter.useByAnotherTool('write')

    await world.ada.click(card, 'Create key')
    const answer = await untilShown(world.slack, people.ada, /Press again/)
    expect(answer.text).toMatch(/The account allows 20 changes a minute\. Nothing was created\. Press again in \d+\u00a0s\.$/)
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
