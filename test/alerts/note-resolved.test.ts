import { describe, expect, test } from 'vitest'
import { resolved } from '../journeys/alerts-world.ts'
import { arrange, channelId, deathAtHook, down, type Scene } from './scene.ts'

const claims = { claimMs: 150, waitMs: 1_000 }
const noLinks = (text: string) => text.replaceAll(/<http[^>]*>/g, 'LINK')
const replies = ({ posts }: Scene) => posts.filter(({ text }) => /esolved/.test(text))
const servers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => down(`web-${from + index}`))

describe('an alert that led to no request and resolves', () => {
  test('is resolved in the thread of its notice, once', async () => {
    const scene = arrange()
    await scene.take([down('unknown-1')])

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')
    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toMatchObject([{ channelId, threadTs: scene.posts[0]?.ts }])
    expect(noLinks(replies(scene)[0]?.text ?? '')).toMatchInlineSnapshot(
      `":large_green_circle: *Resolved* at <!date^1795316940^{time} {date_short_pretty}|2026-11-22 03:09 UTC>. \`unknown-1\`: Alert \`NodeDown\`, LINK (\`prometheus.example.com:9090\`)"`,
    )
    expect(scene.counts()).toMatchObject({ resolved: 1, unmatched: 1 })
  })

  test('says no time if the sender does not', async () => {
    const scene = arrange()
    await scene.take([down('unknown-1')])

    await scene.take([{ ...resolved(down('unknown-1')), endsAt: '0001-01-01T00:00:00Z' }])

    expect(replies(scene)[0]?.text).toContain('*Resolved*. `unknown-1`: Alert')
  })

  test('that fires and resolves again has a second notice with a second reply', async () => {
    const scene = arrange()
    const again = { ...down('unknown-1'), startsAt: '2026-11-22T05:00:00Z' }
    await scene.take([down('unknown-1')])
    await scene.take([resolved(down('unknown-1'))])

    await scene.take([again])
    await scene.take([resolved(again)])

    const [first, , second] = scene.posts
    expect(replies(scene).map(({ threadTs }) => threadTs)).toEqual([first?.ts, second?.ts])
  })

  test('that a storm listed is resolved in the thread of the storm, with the others of the delivery in one reply', async () => {
    const scene = arrange()
    await scene.take(servers(6))

    expect(await scene.take(servers(6).map(resolved))).toBe('accepted')

    const root = scene.posts.find(({ text }) => text.includes('*Many alerts.*'))
    expect(replies(scene)).toMatchObject([{ threadTs: root?.ts }])
    expect(noLinks(replies(scene)[0]?.text ?? '')).toMatchInlineSnapshot(`
      ":large_green_circle: *3 alerts resolved.*
      •  \`web-4\`: Alert \`NodeDown\`, LINK (\`prometheus.example.com:9090\`), at <!date^1795316940^{time} {date_short_pretty}|2026-11-22 03:09 UTC>
      •  \`web-5\`: Alert \`NodeDown\`, LINK (\`prometheus.example.com:9090\`), at <!date^1795316940^{time} {date_short_pretty}|2026-11-22 03:09 UTC>
      •  \`web-6\`: Alert \`NodeDown\`, LINK (\`prometheus.example.com:9090\`), at <!date^1795316940^{time} {date_short_pretty}|2026-11-22 03:09 UTC>"
    `)
    expect(scene.resolvedRequests).toHaveLength(3)
    expect(scene.counts()).toMatchObject({ resolved: 6 })
  })

  test('of which an older release recorded no notice ends in silence', async () => {
    const scene = arrange()
    await scene.take([down('unknown-1')])
    const [key = ''] = await scene.redis.keys(scene.keys.alert('*'))
    await scene.redis.hset(key, 'value', '')

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toEqual([])
    expect(scene.counts()).toMatchObject({ resolved: 1 })
  })
})

describe('a process that dies', () => {
  test('after the reply is followed by one that does not repeat it', async () => {
    const scene = arrange(claims)
    await scene.take([down('unknown-1')])
    const { die, isDead } = deathAtHook()
    scene.hooks.afterPost = die
    void scene.replica()([resolved(down('unknown-1'))])
    await isDead
    delete scene.hooks.afterPost

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toHaveLength(1)
  })

  test('before the reply is followed by one that posts it', async () => {
    const scene = arrange(claims)
    await scene.take([down('unknown-1')])
    const { die, isDead } = deathAtHook()
    scene.hooks.post = die as never
    void scene.replica()([resolved(down('unknown-1'))])
    await isDead
    delete scene.hooks.post
    scene.posts.splice(1)

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toHaveLength(1)
  })

  test('after the notice, without recording it, is followed by one that finds the notice', async () => {
    const scene = arrange(claims)
    const { die, isDead } = deathAtHook()
    scene.hooks.afterPost = die
    void scene.replica()([down('unknown-1')])
    await isDead
    delete scene.hooks.afterPost

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toMatchObject([{ threadTs: scene.posts[0]?.ts }])
  })
})

describe('a reply that Slack does not take', () => {
  test('is repeated if Slack does not answer', async () => {
    const scene = arrange()
    await scene.take([down('unknown-1')])
    scene.hooks.post = () => ({ is: 'unknown', problem: 'no answer' })

    expect(await scene.take([resolved(down('unknown-1'))])).toBe('later')
    delete scene.hooks.post
    expect(await scene.take([resolved(down('unknown-1'))])).toBe('accepted')

    expect(replies(scene)).toHaveLength(1)
  })

  test.each([
    ['not_in_channel', 'accepted', ['not_in_channel']],
    ['thread_not_found', 'accepted', []],
    ['missing_scope', 'later', []],
  ])('because of %s: %s, and the operators read %j', async (error, outcome, operators) => {
    const scene = arrange()
    await scene.take([down('unknown-1')])
    scene.hooks.post = () => ({ is: 'refused', error })

    expect(await scene.take([resolved(down('unknown-1'))])).toBe(outcome)

    expect(scene.operators).toEqual(operators)
  })
})
