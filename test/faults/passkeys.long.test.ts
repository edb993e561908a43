import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  givePasskey,
  listPasskeys,
  openPage,
  origin,
  type PasskeyPlace,
  pressForLink,
  sendAnswer,
  stateKey,
  usual,
} from '../journeys/passkeys-world.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { aroundEach, killAtEach, untilHeard } from './kills.ts'
import { startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** A request that waits for a passkey of Ben, and his answer to its page. */
async function startLinked(onEnd: (close: () => void) => void, words = '') {
  const rule = usual.replace('addresses,', 'addresses, changes: ip.move,')
  const env = { PUBLIC_URL: origin, STATE_KEY: stateKey, OPS_CHANNEL: ops, POLICY_FILE: policyInFile(rule, onEnd) }
  const scene = await startScene({ elasticIps: 1, moveTakesMs: 1_500, env, onEnd })
  const { slack, prefix, redis, bots } = scene
  const place: PasskeyPlace = { slack, prefix, redisUrl: redis.url, bots: [{ slackPort: Number(new URL(bots.url(0)).port) }] }
  const ben = await givePasskey(place, scene.ben, people.ben)
  const card = await scene.requestMove(0, ops, words)
  const url = await pressForLink(place, scene.ben, people.ben, card, 'Approve')
  const { challenge } = await openPage(place, url)
  const approvals = async () => (await scene.evidence.records()).flatMap((request) => request.approvals).length
  const readPage = async () => (await openPage(place, url)).html
  return { scene, place, card, approvals, readPage, answer: () => sendAnswer(place, url, ben.get(challenge)) }
}

const approvesIn = (sent: Buffer) => sent.includes('"tokenName":"approve')

test('a bot that is killed between the answer of a passkey, the approval and its messages has approved once, as its page says', async ({
  onTestFinished,
}) => {
  const { scene, card, approvals, readPage, answer } = await startLinked(onTestFinished)
  const moments = aroundEach('approve', 'used-up', 'report')
  const places = { 'used-up': { redis: (sent: Buffer) => /\bdel\r\n[\s\S]*:passkey-link:/i.test(sent.toString('latin1')) } }
  const seen = new Set<string>()
  /** What the page says, by the number of approvals. Undefined if a bot died meanwhile, or approved. */
  async function seePage(): Promise<string | undefined> {
    const before = await approvals()
    const html = await readPage().catch(() => '')
    const [, title] = /<h1>(.*?)(?:: .*)?<\/h1>/.exec(html) ?? []
    return title !== undefined && before === (await approvals()) ? `${before}: ${title}` : undefined
  }
  async function answerUntilOver(): Promise<void> {
    await untilTrue(
      'the link is used up',
      async () => {
        const now = await seePage()
        if (now) seen.add(now)
        if (now?.endsWith('expired')) return true
        const before = await approvals()
        const answered = await answer().catch(() => undefined)
        if (answered) seen.add(`${before}: ${answered.title}`)
        return false
      },
      120_000,
    )
  }

  await Promise.all([killAtEach(scene, moments, { places }), answerUntilOver()])
  await scene.untilReport(card, /Done/)
  const evidence = await scene.gather(1)

  expect([...seen].toSorted()).toEqual(['0: Approve', '1: Approved', '1: This link has expired'])
  expect(brokenPromises(evidence)).toEqual([])
  expect(evidence.records.map(({ state, approvals: all }) => [state, all.length])).toEqual([['done', 1]])
  expect(evidence.audit.entries.filter(({ act }) => act === 'approve')).toHaveLength(1)
  expect(scene.writes()).toHaveLength(1)
  expect(scene.bots.kills()).toBe(moments.length)
})

test('a bot that is told to end while it approves ends what it began: its page says approved if it is, and the next bot does it', async ({
  onTestFinished,
}) => {
  const { scene, card, approvals, answer } = await startLinked(onTestFinished)
  const passes = Promise.withResolvers<void>()
  scene.proxy.holdSent(approvesIn, passes.promise)
  const answering = answer().catch(() => undefined)
  await untilTrue('the approval is on its way', async () => scene.proxy.fired.held > 0)

  const ending = scene.bots.end(0, 'SIGTERM')
  await delay(500)
  passes.resolve()
  const [answered, ended] = await Promise.all([answering, ending])

  expect([answered?.isDone, await approvals(), ended?.code]).toEqual([true, 1, 0])
  await scene.bots.start(0)
  await scene.untilReport(card, /Done/)
  expect(scene.writes()).toHaveLength(1)
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

test('a bot that is killed while a passkey is removed, or while what it approved ends, ends that once, and nothing is sent', async ({
  onTestFinished,
}) => {
  const { scene, place, card, answer } = await startLinked(onTestFinished, 'in 3h')
  expect(await answer()).toMatchObject({ isDone: true })
  await scene.untilCard(0, /Approved\.\* Starts/)
  const moments = aroundEach('removal', 'drop')
  const places = { removal: { redis: (sent: Buffer) => /:passkeys\r\n[\s\S]*"act":"passkey-remove"/.test(sent.toString('latin1')) } }
  const isRemoved = async () => (await scene.evidence.audit()).entries.some(({ act }) => act === 'passkey-remove')
  const remove = async () => scene.ben.click(await listPasskeys(place, scene.ben, people.ben), 'Remove')

  await Promise.all([killAtEach(scene, moments, { places }), untilHeard('the passkey is removed', remove, isRemoved)])
  await scene.untilReport(card, /A passkey that approved it was removed/)
  const evidence = await scene.gather(1)

  expect(brokenPromises(evidence)).toEqual([])
  expect(evidence.records.map(({ state }) => state)).toEqual(['not-started'])
  expect(['passkey-remove', 'drop'].map((act) => evidence.audit.entries.filter((entry) => entry.act === act).length)).toEqual([1, 1])
  expect(scene.writes()).toEqual([])
  expect(scene.bots.kills()).toBe(moments.length)
})
