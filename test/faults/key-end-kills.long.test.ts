import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseKeyName } from '../../src/domain/account.ts'
import { ops } from '../journeys/world.ts'
import { type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

const env = { STATE_KEY: 'a-state-key-of-tests-that-is-long-enough', REPEAT_MS: '500' }

const keysCalled = ({ accountApi }: Scene, label: string) =>
  accountApi.world.data.apiKeys.filter(({ name }) => parseKeyName(name)?.label === label)

/** Replaces a record with nothing: two more keys, the place, the record that was read, and an empty text. */
const isDrop = (sent: Buffer) => /:key-ends\r\n(?:\$\d+\r\n[^\r]+\r\n){3}\$[1-9]\d*\r\n[^\r]+\r\n\$0\r\n/.test(sent.toString('latin1'))

/** A key lasts up to two minutes, and its end is looked for every 30 s. */
const long = 400_000

/** Ada gets a key for a time. One for a minute ends at the next full minute but one, at the latest. Returns her request message. */
async function keyFor({ slack, ada, ben }: Scene, label: string, time: string) {
  const cardOf = (fits: RegExp) =>
    slack.until(() => slack.messages(ops).find(({ text }) => text.includes(`key ${label}`) && fits.test(text)))
  await ada.command(`/infra keys create ${label} for ${time}`, { channel: ops })
  await ben.click(await cardOf(/needs approval from/), 'Approve')
  await ada.click(await cardOf(/\*Approved\.\*/), 'Create key')
  const card = await cardOf(/Create API key/)
  await slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /Done/.test(text)))
  return card
}

/** Starts the next bot once the last one was killed. `beforeNext` runs in between. */
function killing({ bots, proxy }: Scene) {
  return async (arm: (kill: () => boolean) => unknown, beforeNext = () => {}): Promise<void> => {
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
}

test(
  'a bot that is killed at every step of the end of a key deletes that key alone, and tells its end once',
  async () => {
    const scene = await startScene({ env: { ...env, ACCOUNT_WINDOW_MS: '2000' } })
    const { accountApi, slack, bots, proxy } = scene
    const before = accountApi.world.data.apiKeys.map(({ id }) => id)
    const card = await keyFor(scene, 'brief', '1m')
    const said = () => slack.thread(ops, card.ts).filter(({ text }) => /has ended/.test(text)).length

    const killedBy = killing(scene)
    const isDeletion = { method: 'DELETE', path: /api_keys/ }
    await killedBy((kill) => accountApi.faults.add({ ...isDeletion, kind: 'drop-before', when: kill }))
    expect(keysCalled(scene, 'brief')).toHaveLength(1)
    await killedBy((kill) => accountApi.faults.add({ ...isDeletion, kind: 'drop-after', when: kill }))
    expect(keysCalled(scene, 'brief')).toEqual([])
    // The message is owed, but the record is still there.
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
    const holdDrop = (kill: () => boolean) => proxy.holdSent((sent) => isDrop(sent) && kill(), new Promise(() => {}))
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
    const card = await keyFor(scene, 'brief', '1m')
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

test(
  'a rotation that keeps the old key for a minute ends it then, and keeps the new one, although the bot is killed at every step of the overlap',
  async () => {
    const scene = await startScene({ env: { ...env, ACCOUNT_WINDOW_MS: '2000' } })
    const { accountApi, slack, ada, ben } = scene
    const card = await keyFor(scene, 'old', '2d')
    const killedBy = killing(scene)
    const [old] = keysCalled(scene, 'old')
    await ada.command(`/infra keys rotate ${old?.id} keeping the old one for 1m`, { channel: ops })
    const rotation = (fits: RegExp) =>
      slack.until(() => slack.messages(ops).find(({ ts, text }) => ts !== card.ts && text.includes('key old') && fits.test(text)))
    await ben.click(await rotation(/needs approval from/), 'Approve')
    const approved = await rotation(/\*Approved\.\*/)

    const isRename = { method: 'PATCH', path: /api_keys/ }
    for (const kind of ['drop-before', 'drop-after'] as const)
      await killedBy((kill) => {
        accountApi.faults.add({ ...isRename, kind, when: kill })
        if (kind === 'drop-before') void ada.click(approved, 'Rotate key')
      })
    await killedBy((kill) => scene.proxy.holdSent((sent) => isDrop(sent) && kill(), new Promise(() => {})))

    await untilTrue('only the new key is left', async () => keysCalled(scene, 'old').every(({ id }) => id !== old?.id))
    await slack.until(() => slack.thread(ops, approved.ts).find(({ text }) => /has ended/.test(text)))
    await delay(4_000)
    expect(keysCalled(scene, 'old')).toHaveLength(1)
    expect(slack.thread(ops, approved.ts).filter(({ text }) => /has ended/.test(text))).toHaveLength(1)
  },
  long,
)
