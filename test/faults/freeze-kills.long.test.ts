import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { factsOf } from '../given/signatures.ts'
import { approveHeld, general, ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** Kills the bot right before Redis gets what freezes or lifts, or after that and before the bot learns of it. Starts the next one. */
async function killAt({ bots, proxy, ben }: Scene, act: 'freeze' | 'unfreeze', when: 'before' | 'after'): Promise<void> {
  const fits = (sent: Buffer) => sent.includes(`"act":"${act}"`)
  const killed = Promise.withResolvers<void>()
  const kill = () => {
    void bots.kill(0).then(killed.resolve)
    return true
  }
  const disarm =
    when === 'before' ? proxy.holdSent((sent) => fits(sent) && kill(), new Promise(() => {})) : proxy.loseReplyTo(fits, { andThen: kill })
  await ben.command(`/infra ${act}${act === 'freeze' ? ' because the network is being rebuilt' : ''}`, { channel: ops }).catch(() => {})
  await killed.promise
  disarm?.()
  proxy.holdSent(() => false, Promise.resolve())
  await bots.start(0)
}

const said = ({ slack }: Scene, channel: string, fits: RegExp) =>
  slack.messages(channel).filter(({ isBot, text }) => isBot && fits.test(text)).length

const isFrozen = async ({ admin, evidence: { keys } }: Scene) => factsOf((await admin.get(keys.freeze)) ?? '{}').isOn === true

test('a bot that is killed right before or after it freezes or lifts has done it wholly or not at all, and it is told once', async () => {
  const scene = await startScene({ env: { OPS_CHANNEL: general }, moveTakesMs: 500 })
  const { slack, ben, evidence, writes } = scene
  slack.invite(general, 'U0LOCKKEEP')
  const counts = (fits: RegExp) => [ops, general].map((channel) => said(scene, channel, fits))
  const acts = async () => (await evidence.audit()).entries.map(({ act }) => act).filter((act) => act === 'freeze' || act === 'unfreeze')

  await killAt(scene, 'freeze', 'before')
  await delay(6_000)
  expect([await isFrozen(scene), counts(/\*Frozen\*/), await acts()]).toEqual([false, [0, 0], []])

  await killAt(scene, 'freeze', 'after')
  await untilTrue('both channels are told', async () => counts(/\*Frozen\*/).every((count) => count === 1))
  const card = await scene.requestMove(0)
  await approveHeld(scene, ben, card)
  await scene.untilCard(0, /Approved\.\* Held by a freeze/)
  await killAt(scene, 'unfreeze', 'before')
  await delay(6_000)
  expect([await isFrozen(scene), counts(/\*Unfrozen\*/), writes()]).toEqual([true, [0, 0], []])

  await killAt(scene, 'unfreeze', 'after')
  await untilTrue('both channels are told', async () => counts(/\*Unfrozen\*/).every((count) => count === 1))
  // Nobody woke it up, so it is found by itself within a minute.
  await scene.untilReport(card, /Done/, 90_000)
  await delay(3_000)

  expect([counts(/\*(?:Was f|F)rozen\*/), counts(/\*Unfrozen\*/), await acts()]).toEqual([
    [1, 1],
    [1, 1],
    ['freeze', 'unfreeze'],
  ])
  expect(writes()).toHaveLength(1)
  expect(slack.ephemerals(people.ben).filter(({ text }) => /\*Frozen until|\*Unfrozen/.test(text))).toEqual([])
  expect(brokenPromises(await scene.gather(1))).toEqual([])
})
