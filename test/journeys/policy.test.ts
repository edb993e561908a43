import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { restartWith } from './passkeys-world.ts'
import { finn, startWorldUnder } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'

test('while Slack cannot read the group of approvers, the card shows what was not checked, and clicks are denied', async () => {
  const world = await startWorldUnder(policy)
  const outage = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'internal_error', times: 100 })
  const { card } = await requestMove(world)
  expect(card.text).toMatch(/Not checked: whether enough people can approve it \(Slack didn't return the user group/)

  await world.ben.click(card, 'Approve')
  const denied = await untilShown(world.slack, people.ben, /Slack didn't return/)

  expect(wordsOf(denied)).toMatch(/so nothing was done\. Try again in a minute\.$/)
  expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
  expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben })

  outage.remove()
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
})

test('a change is not approved once its channel is shared with another organization', async () => {
  const world = await startWorldUnder(policy)
  const { card } = await requestMove(world)
  Object.assign(world.slack.workspace.channels.find(({ id }) => id === ops) ?? {}, { isShared: true })
  // What a channel is, is cached for a minute. This bot has not read it yet.
  const { slackUrl, stop } = await world.startBot()
  onTestFinished(stop)
  world.slack.connectBot(slackUrl)

  await world.ben.click(card, 'Approve')

  await untilShown(world.slack, people.ben, /^Nobody can use Lockkeeper here: another organization shares this channel\./)
  expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
})

test('what waits says what it needs after a start with other rules, and is not updated by a start with the same', async () => {
  const needing = (approvals: number) => policy.replace('[S0ONCALL01]', `{ any_of: [S0ONCALL01, ${people.ada}], approvals: ${approvals} }`)
  const world = await startWorldUnder(needing(1))
  const { card } = await requestMove(world)
  expect(card.text).not.toContain('approvals')

  await restartWith(world, { policy: needing(2) })
  await untilCard(world.slack, /\*0 of 2 approvals\*/)
  await world.ben.click(card, 'Approve')
  await untilCard(world.slack, /\*1 of 2 approvals\*: <@U0BEN00001>/)
  await restartWith(world, { policy: needing(3) })
  await untilCard(world.slack, /\*1 of 3 approvals\*: <@U0BEN00001>/)
  const last = needing(3).replace('S0ONCALL01', `${people.chiara}, ${finn}`)
  await restartWith(world, { policy: last })
  await untilCard(world.slack, /\*0 of 3 approvals\* \(1 more doesn't count\): <@U0BEN00001>/)

  const updates = () => world.slack.calls('chat.update').filter(({ args }) => args.ts === card.ts).length
  const before = updates()
  await restartWith(world, { policy: last })
  await wait(1_000)
  expect(updates()).toBe(before)
})
