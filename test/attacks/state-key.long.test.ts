import { expect, onTestFinished, test } from 'vitest'
import { openRecords } from '../journeys/records.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown } from '../journeys/world.ts'

const [oldKey, newKey] = ['the-old-key-has-32-characters-or-more', 'the-new-key-has-32-characters-or-more']

/** A workspace and an account without a bot. `start` starts one with this STATE_KEY, to which people talk from then on. */
async function startWorkspace() {
  const world = await startWorld({ replicas: 0, env: { OPS_CHANNEL: general } })
  world.slack.invite(general)

  async function start(stateKey: string) {
    const bot = await world.startBot({ STATE_KEY: stateKey })
    onTestFinished(() => bot.stop())
    world.slack.connectBot(bot.slackUrl)
    return bot
  }

  /** Ada requests a move. Returns its card. */
  async function requestMove(skip: number) {
    const { elasticIp, target } = world.accountApi.world.movable(skip)
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    return untilCard(world.slack, new RegExp(`${elasticIp.address}[^]*needs approval from`))
  }

  return { ...world, records: openRecords(world), start, requestMove }
}

test('while a key is replaced, each of two replicas carries out what the other one signed', async () => {
  const { slack, ben, accountApi, start, requestMove } = await startWorkspace()
  const before = await start(`${oldKey},${newKey}`)
  const signedWithOld = await requestMove(0)
  const after = await start(`${newKey},${oldKey}`)
  const signedWithNew = await requestMove(4)

  await ben.click(signedWithOld, 'Approve')
  slack.connectBot(before.slackUrl)
  await ben.click(signedWithNew, 'Approve')

  await untilReport(slack, signedWithOld.ts, /Done/)
  await untilReport(slack, signedWithNew.ts, /Done/)
  expect(accountApi.journal.writes()).toHaveLength(2)
  expect(slack.messages(general).filter(({ text }) => /[Rr]equest [0-9a-f]{32}/.test(text))).toEqual([])
  await before.stop()
  await after.stop()
})

test('a request that was signed with an unknown key is neither carried out nor ended, until a replica has that key', async () => {
  const { slack, ben, accountApi, records, start, requestMove } = await startWorkspace()
  const before = await start(oldKey)
  const card = await requestMove(0)
  const [request] = await records.all()
  await before.stop()
  const without = await start(newKey)

  await ben.click(card, 'Approve')
  await untilShown(slack, people.ben, /was signed with a key that Lockkeeper doesn't have \(`STATE_KEY`\)\. Nothing was changed\./)
  expect(await records.find(request?.id ?? '')).toMatchObject({ state: 'waiting', approvals: [] })

  await without.stop()
  await start(`${newKey},${oldKey}`)
  await ben.click(card, 'Approve')
  await untilReport(slack, card.ts, /Done/)
  expect(accountApi.journal.writes()).toHaveLength(1)
})

test('an approved request that was signed with an unknown key waits, and the operators read what to do', async () => {
  const { slack, ben, accountApi, records, start, requestMove } = await startWorkspace()
  const before = await start(oldKey)
  const card = await requestMove(0)
  const outage = accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000 })
  await ben.click(card, 'Approve')
  await expect.poll(() => outage.fired).toBeGreaterThan(1)
  await before.stop()
  accountApi.faults.clear()
  const [request] = await records.all()
  const without = await start(newKey)
  await records.redis.zadd(records.keys.due, 0, request?.id ?? '')

  const notice = await untilCard(slack, /was signed with a key that Lockkeeper doesn't have\. Lockkeeper won't act on it\./, general)
  expect(notice.text).toContain(request?.id)
  expect(await records.find(request?.id ?? '')).toMatchObject({ state: 'approved' })
  expect(accountApi.journal.writes()).toEqual([])

  await without.stop()
  await start(`${newKey},${oldKey}`)
  await records.redis.zadd(records.keys.due, 0, request?.id ?? '')
  await untilReport(slack, card.ts, /Done/)
  expect(accountApi.journal.writes()).toHaveLength(1)
})
