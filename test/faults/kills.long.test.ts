import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseKeyName } from '../../src/domain/account.ts'
import { callerOf } from '../features/machines/machines-world.ts'
import { factsOf } from '../given/signatures.ts'
import { approveHeld, general, ops } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { aroundEach, killAtEach, type Moment, untilHeard } from './kills.ts'
import { type Scene, type SceneOptions, startScene } from './scene.ts'
import { takingMachines } from './taking-machines.ts'
import { untilTrue } from './until-true.ts'

const sends = (...parts: string[]) => ({ redis: (sent: Buffer) => parts.every((part) => sent.includes(part)) })

const said = ({ slack }: Scene, fits: RegExp, channel = ops) =>
  slack.messages(channel).filter(({ isBot, text }) => isBot && fits.test(text)).length

/** Time for what would come a second time. */
const aftermathMs = 4_000

test.concurrent('a bot that is killed right before and after it freezes and lifts has done it wholly or not at all, and it is told once', async ({
  onTestFinished,
}) => {
  const scene = await startScene({ env: { OPS_CHANNEL: general }, moveTakesMs: 500, onEnd: onTestFinished })
  const { slack, ben, admin, evidence, writes } = scene
  slack.invite(general, 'U0LOCKKEEP')
  const places = { freeze: sends('"act":"freeze"'), unfreeze: sends('"act":"unfreeze"') }
  const isFrozen = async () => factsOf((await admin.get(evidence.keys.freeze)) ?? '{}').isOn === true
  const counts = (fits: RegExp) => [ops, general].map((channel) => said(scene, fits, channel))
  /** Ben says it until everything is frozen, or is not. The bot that hears it first has done nothing when it dies. */
  async function killedWhile(act: 'freeze' | 'unfreeze', words: string, told: RegExp): Promise<void> {
    const isDone = async () => (await isFrozen()) === (act === 'freeze')
    const nothingYet = async () => expect([await isDone(), counts(told)]).toEqual([false, [0, 0]])
    const moments: Moment<typeof act>[] = [
      { at: act, when: 'before', left: nothingYet },
      { at: act, when: 'after' },
    ]
    const say = () => ben.command(`/infra ${words}`, { channel: ops })
    await Promise.all([killAtEach(scene, moments, { places }), untilHeard(words, say, isDone)])
    await untilTrue('both channels are told', () => counts(told).every((count) => count === 1))
  }

  await killedWhile('freeze', 'freeze because the network is being rebuilt', /\*Frozen\*/)
  const card = await scene.requestMove(0)
  await approveHeld(scene, ben, card)
  await scene.untilCard(0, /Approved\.\* Held by a freeze/)
  expect(writes()).toEqual([])
  await killedWhile('unfreeze', 'unfreeze', /\*Unfrozen\*/)
  // Nobody woke it up, so it is found by itself within a minute.
  await scene.untilReport(card, /Done/, 90_000)
  await delay(aftermathMs)

  expect([counts(/\*(?:Was f|F)rozen\*/), counts(/\*Unfrozen\*/)]).toEqual([
    [1, 1],
    [1, 1],
  ])
  const acts = (await evidence.audit()).entries.map(({ act }) => act)
  expect(acts.filter((act) => act === 'freeze' || act === 'unfreeze')).toEqual(['freeze', 'unfreeze'])
  expect(writes()).toHaveLength(1)
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

test.concurrent('a bot that is killed right before and after it stores a change outside Lockkeeper tells it once, and two bots tell it once', async ({
  onTestFinished,
}) => {
  const env = { REPEAT_MS: '500', ACCOUNT_WINDOW_MS: '2000', WATCH_CHANGES: 'true', OPS_CHANNEL: ops }
  const scene = await startScene({ bots: 2, env, atOnce: 1, onEnd: onTestFinished })
  const { world } = scene.accountApi
  const { id } = scene.elasticIp(0)
  const change = () => world.moveBehindOurBack(id, world.third(id).id)
  async function expectTold(times: number): Promise<void> {
    await untilTrue('the change is told', () => said(scene, /outside Lockkeeper/) === times)
    await delay(aftermathMs)
    expect(said(scene, /outside Lockkeeper/)).toBe(times)
  }
  await untilTrue('the account was seen', async () => ((await scene.admin.get(scene.evidence.keys.outside)) ?? '').includes(id))

  change()
  await killAtEach(scene, aroundEach('outside'), { places: { outside: sends('/outside', 'outside Lockkeeper') } })
  await expectTold(1)
  await scene.bots.start(1)
  change()
  await expectTold(2)
})

test.concurrent('a bot that is killed at every step of the call of a machine leaves one request and one message, once the call is repeated', async ({
  onTestFinished,
}) => {
  const scene = await startScene({ env: takingMachines(), onEnd: onTestFinished })
  const { slack, bots, admin, evidence } = scene
  const call = callerOf(bots.machinesUrl)
  const body = { change: 'ip.move', elastic_ip: scene.elasticIp(0).address, server: scene.to }
  const request = () => call('POST /v1/requests', { body, key: 'key-of-the-job' })
  const places = { claim: sends(':idempotency:'), record: sends('"mostUndecided"'), message: { slack: () => true } }
  const stored = async () => [(await admin.keys(evidence.keys.idempotency('*'))).length, (await evidence.records()).length]
  /** How many claims of the key and records of requests each kill leaves. */
  const leaves = [
    [0, 0],
    [1, 0],
    [1, 0],
    [1, 1],
    [1, 1],
    [1, 1],
  ]
  const moments = aroundEach('claim', 'record', 'message').map((moment, index) => ({
    ...moment,
    left: async () => expect([moment, await stored()]).toEqual([moment, leaves[index]]),
  }))
  const isPosted = async () => said(scene, /ci \(machine\) needs approval/) > 0

  await Promise.all([killAtEach(scene, moments, { places }), untilHeard('the call is answered', request, isPosted)])

  const { status, json } = await request()
  expect([status, await stored()]).toEqual([200, [1, 1]])
  expect((await evidence.records()).map(({ id }) => id)).toEqual([json.id])
  await delay(aftermathMs)
  expect(slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)).toHaveLength(1)
  await scene.ben.click(await scene.untilCard(0, /needs approval/), 'Approve')
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})

const keysCalled = ({ accountApi }: Scene, label: string) =>
  accountApi.world.data.apiKeys.filter(({ name }) => parseKeyName(name)?.label === label)

/** Replaces a record with nothing: two more keys, the place, the record that was read, and an empty text. */
const isDrop = (sent: Buffer) => /:key-ends\r\n(?:\$\d+\r\n[^\r]+\r\n){3}\$[1-9]\d*\r\n[^\r]+\r\n\$0\r\n/.test(sent.toString('latin1'))

const placesOfKeys = {
  deletion: { account: { method: 'DELETE', path: /api_keys/ } },
  rename: { account: { method: 'PATCH', path: /api_keys/ } },
  'its record is dropped': { redis: isDrop },
  'its end is told': { slack: (args: object) => JSON.stringify(args).includes('has ended') },
}

/** A key lasts up to two minutes, and its end is looked for every 30 s. */
const long = 400_000
const whileItLasts = { places: placesOfKeys, timeoutMs: 200_000 }

const startKeyScene = (onEnd: SceneOptions['onEnd'], more: Record<string, string> = {}, bots = 1) =>
  startScene({ bots, onEnd, env: { STATE_KEY: 'a-state-key-of-tests-that-is-long-enough', REPEAT_MS: '500', ...more } })

const cardOf = ({ slack }: Scene, label: string, fits: RegExp, besides?: string) =>
  slack.until(() => slack.messages(ops).find(({ ts, text }) => ts !== besides && text.includes(`key ${label}`) && fits.test(text)))

const endsTold = ({ slack }: Scene, { ts }: { ts: string }) => slack.thread(ops, ts).filter(({ text }) => /has ended/.test(text)).length

/** Ada gets a key for a time. One for a minute ends at the next full minute but one, at the latest. Returns her request message. */
async function keyFor(scene: Scene, label: string, time: string) {
  const { slack, ada, ben } = scene
  await ada.command(`/infra keys create ${label} for ${time}`, { channel: ops })
  await ben.click(await cardOf(scene, label, /needs approval from/), 'Approve')
  await ada.click(await cardOf(scene, label, /\*Approved\.\*/), 'Create key')
  const card = await cardOf(scene, label, /Create API key/)
  await slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /Done/.test(text)))
  return card
}

test.concurrent(
  'a bot that is killed at every step of the end of a key deletes that key alone, and tells its end once',
  async ({ onTestFinished }) => {
    const scene = await startKeyScene(onTestFinished, { ACCOUNT_WINDOW_MS: '2000' })
    const { accountApi } = scene
    const before = accountApi.world.data.apiKeys.map(({ id }) => id)
    const card = await keyFor(scene, 'brief', '1m')
    const lives = (count: number) => () => expect(keysCalled(scene, 'brief')).toHaveLength(count)

    await killAtEach(
      scene,
      [
        { at: 'deletion', when: 'before', left: lives(1) },
        { at: 'deletion', when: 'after', left: lives(0) },
        { at: 'its record is dropped', when: 'before' },
        ...aroundEach('its end is told' as const),
      ],
      whileItLasts,
    )

    await untilTrue('the thread says that it has ended', () => endsTold(scene, card) === 1)
    await delay(aftermathMs)
    expect(endsTold(scene, card)).toBe(1)
    expect(accountApi.world.data.apiKeys.map(({ id }) => id)).toEqual(before)
    expect(accountApi.journal.filter(({ method, path }) => method === 'DELETE' && before.some((id) => path.includes(id)))).toEqual([])
  },
  long,
)

test.concurrent(
  'a rotation that keeps the old key for a minute ends it then, and keeps the new one, although the bot is killed at every step of the overlap',
  async ({ onTestFinished }) => {
    const scene = await startKeyScene(onTestFinished, { ACCOUNT_WINDOW_MS: '2000' })
    const { ada, ben } = scene
    const { ts: first } = await keyFor(scene, 'old', '2d')
    const [old] = keysCalled(scene, 'old')
    await ada.command(`/infra keys rotate ${old?.id} keeping the old one for 1m`, { channel: ops })
    await ben.click(await cardOf(scene, 'old', /needs approval from/, first), 'Approve')
    const approved = await cardOf(scene, 'old', /\*Approved\.\*/, first)

    const killed = killAtEach(scene, [...aroundEach('rename' as const), { at: 'its record is dropped', when: 'before' }], whileItLasts)
    await Promise.all([killed, ada.click(approved, 'Rotate key').catch(() => undefined)])

    await untilTrue('only the new key is left', () => keysCalled(scene, 'old').every(({ id }) => id !== old?.id))
    await untilTrue('the thread says that it has ended', () => endsTold(scene, approved) === 1)
    await delay(aftermathMs)
    expect(keysCalled(scene, 'old')).toHaveLength(1)
    expect(endsTold(scene, approved)).toBe(1)
  },
  long,
)

test.concurrent(
  'a key ends, once others have left room, although the limit of the account was used up at its end',
  async ({ onTestFinished }) => {
    const scene = await startKeyScene(onTestFinished, {}, 2)
    const { accountApi, slack } = scene
    const card = await keyFor(scene, 'brief', '1m')
    const until = (parseKeyName(keysCalled(scene, 'brief')[0]?.name)?.end ?? 0) + 40_000
    const limit = { kind: 'status', status: 429, headers: { 'retry-after': '2' }, times: Number.POSITIVE_INFINITY } as const
    const refused = accountApi.faults.add({ ...limit, when: () => Date.now() < until })

    await untilTrue('the thread says that it has ended', () => endsTold(scene, card) === 1, 240_000)
    expect(refused.fired).toBeGreaterThan(0)
    expect(keysCalled(scene, 'brief')).toEqual([])
    expect(slack.messages(ops).filter(({ text }) => /should have ended/.test(text))).toEqual([])
  },
  long,
)
