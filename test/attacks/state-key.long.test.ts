import { expect, onTestFinished, test } from 'vitest'
import { openRecords } from '../journeys/records.ts'
import { general, requestMove, startWorld, untilCard, untilReport } from '../journeys/world.ts'

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

  return { ...world, records: openRecords(world), start }
}

test('while a key is replaced, each of two replicas carries out what the other one signed', async () => {
  const workspace = await startWorkspace()
  const { slack, ben, accountApi, start } = workspace
  const before = await start(`${oldKey},${newKey}`)
  const { card: signedWithOld } = await requestMove(workspace)
  const after = await start(`${newKey},${oldKey}`)
  const { card: signedWithNew } = await requestMove(workspace, { skip: 4 })

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

test('an approved request that was signed with an unknown key waits, and the operators read what to do', async () => {
  const workspace = await startWorkspace()
  const { slack, ben, accountApi, records, start } = workspace
  const before = await start(oldKey)
  const { card } = await requestMove(workspace)
  const outage = accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 1_000 })
  await ben.click(card, 'Approve')
  await expect.poll(() => outage.fired).toBeGreaterThan(1)
  await before.stop()
  accountApi.faults.clear()
  const [request] = await records.all()
  const without = await start(newKey)
  await records.redis.zadd(records.keys.due, 0, request?.id ?? '')

  const notice = await untilCard(
    slack,
    /was signed with a key that a process on `[^`]+` doesn't have\. That process won't act on it\./,
    general,
  )
  expect(notice.text).toContain(request?.id)
  expect(await records.find(request?.id ?? '')).toMatchObject({ state: 'approved' })
  expect(accountApi.journal.writes()).toEqual([])

  await without.stop()
  await start(`${newKey},${oldKey}`)
  await records.redis.zadd(records.keys.due, 0, request?.id ?? '')
  await untilReport(slack, card.ts, /Done/)
  expect(accountApi.journal.writes()).toHaveLength(1)
})
