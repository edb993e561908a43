import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import { addresses, requestEvacuation, withAddresses } from './evacuations.ts'
import { accepted, strict } from './strict-world.ts'
import { forgetLists, ops, requestMove, startWorld, untilReport, untilShown } from './world.ts'

test('an evacuation of 25 addresses sends all of them as the account allows', async () => {
  const world = await startWorld(withAddresses(addresses(25), strict))
  const card = await requestEvacuation(world)
  expect(card.text).toContain('Takes about 1\u00a0min.')

  await world.ben.click(card, 'Approve')
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
