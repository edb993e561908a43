import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops } from '../journeys/world.ts'
import { type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

const said = ({ slack }: Scene, fits: RegExp) => slack.messages(ops).filter(({ isBot, text }) => isBot && fits.test(text)).length

/** Kills the bot right before Redis gets the change and its message, or after that and before the bot learns of it. Starts the next one. */
async function killAt({ bots, proxy }: Scene, when: 'before' | 'after', change: () => void): Promise<void> {
  const fits = (sent: Buffer) => sent.includes('/outside') && sent.includes('outside Lockkeeper')
  const killed = Promise.withResolvers<void>()
  const kill = () => {
    void bots.kill(0).then(killed.resolve)
    return true
  }
  const disarm =
    when === 'before' ? proxy.holdSent((sent) => fits(sent) && kill(), new Promise(() => {})) : proxy.loseReplyTo(fits, { andThen: kill })
  change()
  await killed.promise
  disarm?.()
  proxy.holdSent(() => false, Promise.resolve())
  await bots.start(0)
}

test('a bot that is killed right before or after it stores a change outside Lockkeeper tells it once, and two bots tell it once', async () => {
  const scene = await startScene({
    bots: 2,
    env: { REPEAT_MS: '500', ACCOUNT_WINDOW_MS: '2000', WATCH_CHANGES: 'true', OPS_CHANNEL: ops },
    atOnce: 1,
  })
  const { accountApi } = scene
  const { id } = scene.elasticIp(0)
  await untilTrue('the account was seen', async () => ((await scene.admin.get(scene.evidence.keys.outside)) ?? '').includes(id))

  await killAt(scene, 'before', () => accountApi.world.moveBehindOurBack(id, accountApi.world.third(id).id))
  await untilTrue('the change is told', async () => said(scene, /outside Lockkeeper/) === 1)
  await killAt(scene, 'after', () => accountApi.world.moveBehindOurBack(id, accountApi.world.third(id).id))
  await untilTrue('the next one is told', async () => said(scene, /outside Lockkeeper/) === 2)
  await delay(4_000)
  expect(said(scene, /outside Lockkeeper/)).toBe(2)

  await scene.bots.start(1)
  accountApi.world.moveBehindOurBack(id, accountApi.world.third(id).id)
  await untilTrue('a third one is told', async () => said(scene, /outside Lockkeeper/) === 3)
  await delay(4_000)
  expect(said(scene, /outside Lockkeeper/)).toBe(3)
})
