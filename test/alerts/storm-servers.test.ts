import { expect, test } from 'vitest'
import { createStormServers, mostKept } from '../../src/alerts/storm-servers.ts'
import { arrange, channelId, deathAtHook, down, type Scene } from './scene.ts'

const claims = { claimMs: 150, waitMs: 1_000 }
const servers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => down(`web-${from + index}`))

/** The servers that the message of the storm names. */
const named = ({ posts }: Scene) =>
  posts.find(({ text }) => text.includes('*Many alerts.*'))?.text.match(/Nothing was requested for (.*?)\. In /)?.[1]

test('the message of a storm names the servers of all its deliveries', async () => {
  const scene = arrange()
  await scene.take(servers(3))

  await scene.take([down('web-4')])
  expect(named(scene)).toBe('`web-4`')
  expect(scene.updates).toEqual([])
  await scene.take([down('web-5'), down('web-4', { job: 'ping' })])

  expect(named(scene)).toBe('`web-4`, `web-5`')
})

test('names the first servers, as the alert names them if the account does not have them, and counts the others', async () => {
  const scene = arrange()

  await scene.take(Array.from({ length: 30 }, (_, index) => down(`unknown-${index}:9100`)))

  expect(named(scene)).toMatch(/^`unknown-3`, .*`unknown-10` and 19 more servers$/)
})

test('names no server if the alerts name none', async () => {
  const scene = arrange()

  await scene.take(Array.from({ length: 5 }, (_, index) => down('', { instance: undefined, job: `${index}` })))

  expect(scene.posts.some(({ text }) => text.includes('*Many alerts.* In 10 minutes'))).toBe(true)
})

test('keeps a limited number of names', async () => {
  const scene = arrange()
  await scene.take(servers(4))
  const list = createStormServers({ redis: scene.redis as never, keys: scene.keys })

  await list.add(
    channelId,
    Array.from({ length: 500 }, (_, index) => `rack-${index}`),
  )
  await scene.take([down('web-5')])

  expect(await list.add(channelId, [])).toMatchObject({ count: mostKept, added: 0 })
  expect(await scene.redis.hlen(scene.keys.alert(`storm-${channelId}`))).toBeLessThan(mostKept + 10)
  expect(await scene.redis.pttl(scene.keys.alert(`storm-${channelId}`))).toBeGreaterThan(0)
})

test('adds no names to a storm that is over', async () => {
  const { redis, keys } = arrange()
  const list = createStormServers({ redis: redis as never, keys })

  expect(await list.add(channelId, ['web-1'])).toBeUndefined()
  expect(await redis.exists(keys.alert(`storm-${channelId}`))).toBe(0)
})

test('a process that dies before it showed the names is followed by one that shows them', async () => {
  const scene = arrange(claims)
  await scene.take(servers(4))
  const { die, isDead } = deathAtHook()
  scene.hooks.update = die
  void scene.replica()([down('web-5')])
  await isDead
  delete scene.hooks.update

  expect(await scene.take([down('web-5')])).toBe('accepted')

  expect(named(scene)).toBe('`web-4`, `web-5`')
  expect(scene.posts.filter(({ text }) => text.includes('`web-5`') && text.includes('1 more alert'))).toHaveLength(1)
})

test('a process that dies after it opened the storm leaves a message that the next one completes', async () => {
  const scene = arrange(claims)
  await scene.take(servers(3))
  const { die, isDead } = deathAtHook()
  scene.hooks.afterPost = die
  void scene.replica()([down('web-4')])
  await isDead
  delete scene.hooks.afterPost

  expect(await scene.take([down('web-5')])).toBe('accepted')
  expect(await scene.take([down('web-4')])).toBe('accepted')

  expect(scene.posts.filter(({ threadTs }) => threadTs === undefined)).toHaveLength(1)
  expect(named(scene)).toBe('`web-5`, `web-4`')
})

test('servers that another process adds during an update stay named', async () => {
  const scene = arrange({ waitMs: 3_000 })
  await scene.take(servers(4))
  let other: Promise<unknown> | undefined
  scene.hooks.update = async (text: string) => {
    // The other process adds and shows its server before this update, which does not have it, reaches Slack.
    if (other || text.includes('web-6')) return undefined
    other = scene.replica()([down('web-6')])
    await other
    return undefined
  }

  await scene.take([down('web-5')])

  expect(named(scene)).toBe('`web-4`, `web-5`, `web-6`')
})

test('is delayed while Slack does not answer the update, and lists no alert before', async () => {
  const scene = arrange()
  await scene.take(servers(4))
  const before = scene.posts.length
  scene.hooks.update = () => ({ is: 'rate-limited', retryInMs: 1_000 })

  expect(await scene.take([down('web-5')])).toBe('later')
  expect(scene.posts).toHaveLength(before)
  delete scene.hooks.update
  expect(await scene.take([down('web-5')])).toBe('accepted')

  expect(named(scene)).toBe('`web-4`, `web-5`')
  expect(scene.posts).toHaveLength(before + 1)
})

test('a message that somebody deleted does not hold up the alerts', async () => {
  const scene = arrange()
  await scene.take(servers(4))
  scene.hooks.update = () => ({ is: 'refused', error: 'message_not_found' })

  expect(await scene.take([down('web-5')])).toBe('accepted')
})
