import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { reasonOf } from '../../src/inbound/alert-payload.ts'
import { TryLater } from '../../src/inbound/alerts.ts'
import { Denied } from '../../src/requests/access.ts'
import { resolved } from '../journeys/alerts-world.ts'
import { arrange, deathAtHook, down, read, refusal, server } from './scene.ts'

const servers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => down(`web-${from + index}`))

test('an alert without a text says its name as the reason, and a long text is cut', () => {
  const [none] = read([{ ...down(), annotations: { summary: ' \u200b ' } }])
  const [long] = read([{ ...down(), annotations: { summary: 'x'.repeat(2_000) } }])

  expect(none && reasonOf(none, 'web-1')).toBe('NodeDown on web-1')
  expect(long && reasonOf(long, 'web-1')).toHaveLength(500)
})

test('an alert may name its server by hostname, id or primary address, with a port and in any case', async () => {
  for (const instance of ['web-1:9100', 'WEB-1', 'sv_web-1', '198.51.100.21:9100']) {
    const { take, submitted } = arrange({ servers: [server('standby'), server('web-1', { primaryIpv4: '198.51.100.21' })] })
    await take([down(instance)])
    expect(submitted, instance).toMatchObject([{ input: { serverId: 'sv_web-1' } }])
  }
})

describe('a repeat', () => {
  test('is a duplicate while the request is open, also with another start', async () => {
    const { take, submitted, counts } = arrange()
    await take([down()])

    expect(await take([down(), { ...down(), startsAt: '2027-01-01T00:00:00Z' }])).toBe('accepted')

    expect(submitted).toHaveLength(1)
    expect(counts()).toEqual({ received: 3, proposed: 1, duplicate: 2 })
  })

  test.each([
    ['rejected', 1],
    ['done', 1],
    ['failed', 1],
    ['voided', 1],
    ['untracked', 1],
    ['expired', 2],
    ['withdrawn', 2],
  ])('after the request was %s makes %i requests in all', async (state, count) => {
    const { take, submitted, setState } = arrange()
    await take([down()])
    await setState(0, state)

    expect(await take([down()])).toBe('accepted')

    expect(new Set(submitted.map(({ deliveryKey }) => deliveryKey)).size).toBe(count)
    expect(submitted).toHaveLength(count)
  })

  test('is a duplicate if another alert is about the same server', async () => {
    const { take, submitted, counts } = arrange()

    await take([down('web-1'), down('web-1:9100', { alertname: 'NodeDown', job: 'ping' })])

    expect(submitted).toHaveLength(1)
    expect(counts()).toEqual({ received: 2, proposed: 1, duplicate: 1 })
  })

  test('of two alerts about one server to two replicas at the same moment is proposed once', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = async () => void (await pause(200))

    const taken = await Promise.all([scene.replica()([down()]), scene.replica()([down('web-1', { job: 'ping' })])])

    expect(taken).toEqual(['accepted', 'accepted'])
    expect(scene.submitted).toHaveLength(1)
  })
})

describe('a process that dies', () => {
  test.each([
    ['before the record', 'beforeRecord'],
    ['after the record', 'afterRecord'],
  ] as const)('%s loses no alert and proposes it once', async (_, point) => {
    const scene = arrange()
    const { die, isDead } = deathAtHook()
    scene.hooks[point] = die
    void scene.replica()([down()])
    await isDead
    delete scene.hooks[point]

    expect(await scene.take([down()])).toBe('accepted')

    expect(scene.submitted).toHaveLength(1)
    expect(await scene.take([down()])).toBe('accepted')
    expect(scene.submitted).toHaveLength(1)
  })

  test('after the record leaves a request that the resolved alert withdraws', async () => {
    const scene = arrange()
    const { die, isDead } = deathAtHook()
    scene.hooks.afterRecord = die
    void scene.replica()([down()])
    await isDead

    expect(await scene.take([resolved(down())])).toBe('accepted')

    expect(scene.resolvedRequests).toHaveLength(1)
  })

  test('after it posted in the channel that nothing is proposed posts it once', async () => {
    const scene = arrange()
    const { die, isDead } = deathAtHook()
    scene.hooks.afterPost = die
    void scene.replica()([down('unknown-1')])
    await isDead
    delete scene.hooks.afterPost

    expect(await scene.take([down('unknown-1')])).toBe('accepted')

    expect(scene.posts).toHaveLength(1)
  })
})

describe('what leads to no request is posted in the channel once, with the link and what to do', () => {
  const standby = server('standby')

  test.each([
    ['no such server', [standby], down('web-77'), /no server web-77/],
    ['two of that name', [standby, server('web-1', { id: 'sv_1' }), server('web-1', { id: 'sv_2' })], down(), /2 servers are called web-1/],
    ['no label', [standby], down('', { instance: undefined }), /no label `instance`/],
    [
      'no target for the site',
      [standby, server('web-1', { site: { id: 's', name: 'Tokyo', slug: 'TYO' } })],
      down(),
      /no target for the site TYO/,
    ],
    [
      'a target in another site',
      [server('standby', { site: { id: 'f', name: 'Frankfurt', slug: 'FRA' } }), server('web-1')],
      down(),
      /none in the same project and site/,
    ],
    [
      'two targets',
      [standby, server('standby', { id: 'sv_2' }), server('web-1')],
      down(),
      /2 servers are called standby, so it isn't clear/,
    ],
    ['no site', [standby, server('web-1', { site: undefined })], down(), /no target for the site unknown of web-1/],
    ['the target itself', [standby], down('standby'), /No server standby can take over from standby/],
  ])('%s', async (_, all, alert, words) => {
    const { take, submitted, posts, counts } = arrange({ servers: all })

    expect(await take([alert])).toBe('accepted')
    expect(await take([alert])).toBe('accepted')

    expect(submitted).toEqual([])
    expect(posts.map(({ text }) => text)).toEqual([expect.stringMatching(words)])
    expect(posts[0]?.text).toMatch(/`\/infra evacuate.*Alert NodeDown, <http:\/\/prometheus/s)
    expect(counts()).toMatchObject({ received: 2, refused: 1, duplicate: 1 })
  })

  test('and is posted once Slack answers again, without another delivery', async () => {
    const scene = arrange()
    scene.hooks.post = () => ({ is: 'unknown', problem: 'no answer' })

    expect(await scene.take([down('web-77')])).toBe('accepted')
    delete scene.hooks.post
    expect(await scene.take([down('web-77')])).toBe('accepted')
    await scene.sweep()

    expect(scene.posts).toHaveLength(1)
    expect(scene.counts()).toMatchObject({ refused: 1, duplicate: 1 })
  })
})

describe('a resolved alert', () => {
  test('ends its request, and the next alert is a new one', async () => {
    const { take, submitted, resolvedRequests, counts } = arrange()
    await take([down()])

    expect(await take([resolved(down())])).toBe('accepted')
    for (let time = 0; time < 2; time += 1) await take([{ ...down(), startsAt: '2026-11-22T05:00:00Z' }])

    expect(resolvedRequests).toHaveLength(1)
    expect(submitted).toHaveLength(2)
    await take([resolved({ ...down(), startsAt: '2026-11-22T05:00:00Z' })])
    expect(new Set(resolvedRequests).size).toBe(2)
    expect(counts()).toEqual({ received: 5, proposed: 2, duplicate: 1, resolved: 2 })
  })

  test('of which nothing is known, or a second time, does nothing', async () => {
    const { take, resolvedRequests, counts } = arrange()

    expect(await take([resolved({ ...down(), startsAt: '2026-11-22T01:00:00Z' })])).toBe('accepted')
    await take([down()])
    await take([resolved(down()), resolved(down())])

    expect(resolvedRequests).toHaveLength(1)
    expect(counts()).toEqual({ received: 4, proposed: 1, resolved: 1, unmatched: 2 })
  })

  test('is not proposed again by a delivery that is late', async () => {
    const { take, submitted } = arrange()
    await take([down()])
    await take([resolved(down())])

    await take([down()])

    expect(submitted).toHaveLength(1)
  })

  test('leaves the request while another alert about the server fires', async () => {
    const { take, resolvedRequests } = arrange()
    const other = down('web-1', { job: 'ping' })
    await take([down(), other])

    // One that begins in the same delivery keeps it, too.
    await take([resolved(down()), down('web-1', { job: 'disk' })])
    await take([resolved(other)])
    expect(resolvedRequests).toEqual([])
    await take([resolved(down('web-1', { job: 'disk' }))])

    expect(resolvedRequests).toHaveLength(1)
  })

  test('before its request is made has it withdrawn by the process that makes it', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = async () => void (await pause(200))
    const firing = scene.take([down()])
    await pause(50)

    expect(await scene.replica()([resolved(down())])).toBe('accepted')

    expect(await firing).toBe('accepted')
    expect(scene.resolvedRequests).toHaveLength(1)
  })
})

describe('a delivery', () => {
  test('to two replicas at once posts one list', async () => {
    const scene = arrange()
    const unknown = ['unknown-1', 'unknown-2'].map((name) => down(name))

    expect(await Promise.all([scene.replica()(unknown), scene.replica()(unknown)])).toEqual(['accepted', 'accepted'])

    expect(scene.posts).toHaveLength(1)
  })

  test('after a process that died while it posted lists nothing twice, and what came in addition once', async () => {
    const scene = arrange()
    const { die, isDead } = deathAtHook()
    scene.hooks.afterPost = die
    void scene.replica()([down('unknown-1'), down('unknown-2')])
    await isDead
    delete scene.hooks.afterPost

    expect(await scene.take([down('unknown-2'), down('unknown-3')])).toBe('accepted')

    expect(scene.posts.map(({ text }) => text)).toEqual([
      expect.stringMatching(/unknown-1.*unknown-2/s),
      expect.stringMatching(/^(?!.*unknown-2).*no server unknown-3/s),
    ])
  })

  test('whose rule cannot be applied now, because Slack does not answer, is delayed', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = () => {
      throw new Denied({ code: 'group-unknown' }, String, '/infra')
    }

    expect(await scene.take([down()])).toBe('later')

    expect(scene.posts).toEqual([])
  })

  test('that takes too long is delayed, and a repeat goes on', async () => {
    const scene = arrange({ takeMs: 1_000 })
    const { die } = deathAtHook()
    scene.hooks.beforeRecord = () => (scene.submitted.length < 2 ? undefined : die())

    expect(await scene.take(servers(6))).toBe('later')
    expect(scene.submitted).toHaveLength(2)
    delete scene.hooks.beforeRecord
    expect(await scene.take(servers(6))).toBe('accepted')

    expect(scene.submitted).toHaveLength(6)
  })
})

describe('two alerts about one server', () => {
  const [first, other] = [down(), down('web-1', { job: 'ping' })]

  test('are one request after the first one was decided, too, until both have resolved', async () => {
    const { take, submitted, setState } = arrange()
    await take([first])
    await setState(0, 'rejected')

    await take([other])
    await take([resolved(first)])
    await take([other])
    expect(submitted).toHaveLength(1)
    await take([resolved(other)])
    await take([{ ...other, startsAt: '2026-11-22T05:00:00Z' }])

    expect(submitted).toHaveLength(2)
  })

  test('withdraw the request that followed an expired one', async () => {
    const { take, submitted, setState, resolvedRequests, redis, keys } = arrange()
    await take([first, other])
    await setState(0, 'expired')
    await take([other])
    expect(submitted).toHaveLength(2)

    await take([resolved(other)])
    expect(resolvedRequests).toEqual([])
    await take([resolved(first)])

    expect(resolvedRequests).toHaveLength(1)
    expect(await redis.hget(keys.record(resolvedRequests[0] ?? ''), 'state')).toBe('"withdrawn"')
  })

  test('of which one is refused because a machine evacuates the server are listed, and not tried again', async () => {
    const scene = arrange()
    await scene.take([first])
    const [requestId = ''] = await scene.redis.keys(scene.keys.record('*'))
    await scene.redis.hdel(scene.keys.alertedServer('sv_web-1'), `alert:${read([first])[0]?.key}`)
    await scene.redis.hset(requestId, 'requester', 'machine:ci')
    scene.hooks.beforeRecord = async () => {
      throw refusal('Another request is open.')
    }

    expect(await scene.take([other])).toBe('accepted')
    expect(JSON.stringify(scene.posts)).toContain('Another request is open.')
  })

  test('of which one begins while the other ends lose nothing', async () => {
    const scene = arrange()
    await scene.take([first])
    const [requestId = ''] = await scene.redis.keys(scene.keys.record('*'))
    // The first alert has left its server, and its request is not withdrawn yet.
    await scene.redis.hdel(scene.keys.alertedServer('sv_web-1'), `alert:${read([first])[0]?.key}`)
    scene.hooks.beforeRecord = async () => {
      if ((await scene.redis.hget(requestId, 'state')) === '"waiting"') throw refusal('Another request is open.')
    }

    expect(await scene.take([other])).toBe('later')
    await scene.redis.hset(requestId, 'state', '"withdrawn"')
    expect(await scene.take([other])).toBe('accepted')

    expect(scene.submitted).toHaveLength(2)
    expect(scene.posts).toEqual([])
  })
})

test('a process that dies before it withdraws the request of a resolved alert is followed by one that does, although another alert began', async () => {
  const scene = arrange()
  await scene.take([down()])
  const { die, isDead } = deathAtHook()
  scene.hooks.beforeResolve = die
  void scene.replica()([resolved(down())])
  await isDead
  delete scene.hooks.beforeResolve
  scene.hooks.beforeRecord = async () => {
    if (scene.resolvedRequests.length === 0) throw refusal('Another request is open.')
  }

  expect(await scene.take([down('web-1', { job: 'ping' })])).toBe('later')
  expect(await scene.take([resolved(down())])).toBe('accepted')
  expect(await scene.take([down('web-1', { job: 'ping' })])).toBe('accepted')

  expect(scene.resolvedRequests).toHaveLength(1)
  expect(scene.submitted).toHaveLength(2)
  expect(scene.posts).toEqual([])
})

test('a late delivery of an alert whose end a process did not complete before it died ends the request', async () => {
  const scene = arrange()
  await scene.take([down()])
  const { die, isDead } = deathAtHook()
  scene.hooks.beforeResolve = die
  void scene.replica()([resolved(down())])
  await isDead
  delete scene.hooks.beforeResolve

  expect(await scene.take([down()])).toBe('accepted')

  expect(scene.resolvedRequests).toHaveLength(1)
  expect(scene.counts()).toMatchObject({ proposed: 1, duplicate: 1 })
})

test('a repeat is a duplicate while the account does not answer, or does not show the server', async () => {
  const all = [server('standby'), server('web-1')]
  const scene = arrange({ servers: all })
  await scene.take([down()])
  all.splice(0)
  scene.hooks.beforeList = () => Promise.reject(new Error('the account is away'))

  expect(await scene.take([down()])).toBe('accepted')

  expect(scene.counts()).toEqual({ received: 2, proposed: 1, duplicate: 1 })
  expect(scene.posts).toEqual([])
})

test.each(['beforeList', 'beforeRecord'] as const)(
  'a stop ends the wait for the account, and the next process goes on at once: %s',
  async (hook) => {
    const scene = arrange()
    const { die, isDead } = deathAtHook()
    scene.hooks[hook] = die
    const stopping = new AbortController()
    const taken = scene.take([down()], stopping.signal)
    await isDead

    stopping.abort(new TryLater('Lockkeeper stops'))

    expect(await taken).toBe('later')
    delete scene.hooks[hook]
    expect(await scene.replica()([down()])).toBe('accepted')
    expect(scene.submitted).toHaveLength(1)
  },
)
