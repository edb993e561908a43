import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseKeyName } from '../../src/domain/account.ts'
import { ops } from '../journeys/world.ts'
import { type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

const env = { STATE_KEY: 'a-state-key-of-tests-that-is-long-enough', REPEAT_MS: '500' }

const keysCalled = ({ accountApi }: Scene, label: string) =>
  accountApi.world.data.apiKeys.filter(({ name }) => parseKeyName(name)?.label === label)

/** A key lasts up to two minutes, and its end is looked for every 30 s. */
const long = 400_000

/** Ada gets a key that ends at the next full minute but one, at the latest. Returns her request message. */
async function shortKey({ slack, ada, ben }: Scene) {
  const cardOf = (fits: RegExp) => slack.until(() => slack.messages(ops).find(({ text }) => text.includes('key brief') && fits.test(text)))
  await ada.command('/infra keys create brief for 1m', { channel: ops })
  await ben.click(await cardOf(/needs approval from/), 'Approve')
  await ada.click(await cardOf(/\*Approved\.\*/), 'Create key')
  const card = await cardOf(/Create API key/)
  await slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /Done/.test(text)))
  return card
}

test(
  'a bot that is killed at every step of the end of a key deletes that key alone, and tells its end once',
  async () => {
    const scene = await startScene({ env: { ...env, ACCOUNT_WINDOW_MS: '2000' } })
    const { accountApi, slack, bots, proxy } = scene
    const before = accountApi.world.data.apiKeys.map(({ id }) => id)
    const card = await shortKey(scene)
    const said = () => slack.thread(ops, card.ts).filter(({ text }) => /has ended/.test(text)).length

    /** Starts the next bot once the last one was killed. `beforeNext` runs in between. */
    async function killedBy(arm: (kill: () => boolean) => unknown, beforeNext = () => {}): Promise<void> {
      const killed = Promise.withResolvers<void>()
      let isArmed = true
      arm(() => {
        if (!isArmed) return false
        isArmed = false
        void bots.kill(0).then(killed.resolve)
        return true
      })
      await killed.promise
      beforeNext()
      proxy.holdSent(() => false, Promise.resolve())
      await bots.start(0)
    }

    const isDeletion = { method: 'DELETE', path: /api_keys/ }
    await killedBy((kill) => accountApi.faults.add({ ...isDeletion, kind: 'drop-before', when: kill }))
    expect(keysCalled(scene, 'brief')).toHaveLength(1)
    await killedBy((kill) => accountApi.faults.add({ ...isDeletion, kind: 'drop-after', when: kill }))
    expect(keysCalled(scene, 'brief')).toEqual([])
    // The message is owed, but the record is still there.
    const drops = (sent: Buffer) => sent.toString('latin1').toLowerCase().includes('hdel') && sent.includes('key-ends')
    // Set before the next bot runs, so that it meets both.
    const posts: Promise<void>[] = []
    const killAtPost = (when: 'before' | 'after') => {
      const killed = Promise.withResolvers<void>()
      const kill = (args: object) => {
        const isIt = JSON.stringify(args).includes('has ended')
        if (isIt) void bots.kill(0).then(killed.resolve)
        return isIt
      }
      slack.faults.add({ method: 'chat.postMessage', kind: `drop-${when}`, when: kill })
      posts.push(killed.promise)
    }
    const holdDrop = (kill: () => boolean) => proxy.holdSent((sent) => drops(sent) && kill(), new Promise(() => {}))
    await killedBy(holdDrop, () => {
      killAtPost('before')
      killAtPost('after')
    })
    for (const killed of posts) {
      await killed
      await bots.start(0)
    }

    await untilTrue('the thread says that it has ended', async () => said() === 1)
    await delay(4_000)
    expect(said()).toBe(1)
    expect(accountApi.world.data.apiKeys.map(({ id }) => id)).toEqual(before)
    expect(accountApi.journal.filter(({ method, path }) => method === 'DELETE' && before.some((id) => path.includes(id)))).toEqual([])
  },
  long,
)

test(
  'a key ends, once others have left room, although the limit of the account was used up at its end',
  async () => {
    const scene = await startScene({ env, bots: 2 })
    const { accountApi, slack } = scene
    const card = await shortKey(scene)
    const [key] = keysCalled(scene, 'brief')
    const until = (parseKeyName(key?.name)?.end ?? 0) + 40_000
    const refused = accountApi.faults.add({
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '2' },
      times: Number.POSITIVE_INFINITY,
      when: () => Date.now() < until,
    })

    await slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /has ended/.test(text)), { timeoutMs: 240_000 })
    expect(refused.fired).toBeGreaterThan(0)
    expect(keysCalled(scene, 'brief')).toEqual([])
    expect(slack.messages(ops).filter(({ text }) => /should have ended/.test(text))).toEqual([])
  },
  long,
)
