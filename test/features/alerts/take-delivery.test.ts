import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { CheckFailed } from '../../../src/domain/errors.ts'
import { TryLater } from '../../../src/features/alerts/alerts.ts'
import { reasonOf } from '../../../src/features/alerts/payload.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { resolved } from '../../journeys/alerts-world.ts'
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

/** An alert of a history: `-web-1/ping@05:00` has resolved, is of another job, and began at another time of that day, or on another day. */
function alertOf(words: string) {
  const [, sign, instance, job, time = '03:00'] = /^([+-])([^/@]+)(?:\/([^@]+))?(?:@(.+))?$/.exec(words) ?? []
  const startsAt = time === 'none' ? '0001-01-01T00:00:00Z' : `2026-${time.includes(':') ? `11-22T${time}` : `${time}T03:00`}Z`
  const endsAt = time === 'none' ? startsAt : new Date(Date.parse(startsAt) + 9 * 60_000).toISOString()
  const firing = { ...down(instance, job === undefined ? {} : { job }), startsAt }
  return sign === '-' ? { ...resolved(firing), endsAt } : firing
}

const decided = ['rejected', 'done', 'failed', 'voided', 'untracked']
const [both, another] = ['+web-1 +web-1/ping', '+web-1 +web-1/ping | -web-1 +web-1/disk | -web-1/ping']

describe('one delivery after the other: `+` fires, `-` resolves, `=` is what becomes of the newest request, `~` is a wait', () => {
  test.each<[what: string, history: string, made: number, withdrawn: number]>([
    ['a repeat is a duplicate while the request is open, also with another start', '+web-1 | +web-1 +web-1@12-20', 1, 0],
    ['another alert about the same server is a duplicate', both, 1, 0],
    ...decided.map((state): [string, string, number, number] => [
      'a repeat after the decision is a duplicate',
      `+web-1 | =${state} | +web-1`,
      1,
      0,
    ]),
    ['after its request expired, an alert that fires is requested again', '+web-1 | =expired | +web-1', 2, 0],
    ['after it was withdrawn, too', '+web-1 | =withdrawn | +web-1', 2, 0],
    ...decided.map((state): [string, string, number, number] => [
      'a later start is a new outage, also if its resolved got lost, and what was never resolved keeps no later request',
      `+web-1 | =${state} | +web-1@11-30 | =${state} | +web-1/ping@12-20 | -web-1/ping@12-20`,
      3,
      1,
    ]),
    [
      'a resolved alert ends its request, and the next alert is a new one',
      '+web-1 | -web-1 | +web-1@05:00 | +web-1@05:00 | -web-1@05:00',
      2,
      2,
    ],
    ['one of which nothing is known, or a second time, does nothing', '-web-1@01:00 | +web-1 | -web-1 -web-1', 1, 1],
    ['it ends its request although its sender knows another start', '+web-1@03:00:07 | -web-1', 1, 1],
    ['but not that of a later outage', '+web-1@03:00:07 | -web-1 | +web-1@04:00 | -web-1', 2, 1],
    ['without a start it ends what has none', '+web-1@none +web-1@none | -web-1@none', 1, 1],
    ['the others of its request wait for it no longer than two days', `${both} | ~49h | +web-1 | -web-1`, 1, 1],
    ['it leaves the request while another alert about the server fires, or begins in the same delivery', another, 1, 0],
    ['the last one ends it', `${another} | -web-1/disk`, 1, 1],
    ['one of two leaves the request that followed an expired one', `${both} | =expired | +web-1/ping | +web-1 | -web-1/ping`, 2, 0],
    ['and the other ends it', `${both} | =expired | +web-1/ping | +web-1 | -web-1/ping | -web-1`, 2, 1],
  ])('%s: %s', async (_, history, made, withdrawn) => {
    const { take, pass, setState, submitted, resolvedRequests } = arrange()
    for (const event of history.split(' | '))
      if (event.startsWith('=')) await setState(submitted.length - 1, event.slice(1))
      else if (event.startsWith('~')) await pass(Number.parseInt(event.slice(1), 10) * 3_600_000)
      else expect(await take(event.split(' ').map(alertOf))).toBe('accepted')

    expect([submitted.length, new Set(resolvedRequests).size]).toEqual([made, withdrawn])
    expect(new Set(submitted.map(({ deliveryKey }) => deliveryKey)).size).toBe(made)
  })
})

test('two alerts about one server to two replicas at the same moment are proposed once', async () => {
  const scene = arrange()
  scene.hooks.beforeRecord = async () => void (await pause(200))

  const taken = await Promise.all([scene.replica()([down()]), scene.replica()([down('web-1', { job: 'ping' })])])

  expect(taken).toEqual(['accepted', 'accepted'])
  expect(scene.submitted).toHaveLength(1)
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
    ['the target itself', [standby], down('standby'), /standby is its own target in the policy/],
  ])('%s', async (_, all, alert, words) => {
    const { take, submitted, posts, counts } = arrange({ servers: all })

    expect(await take([alert])).toBe('accepted')
    expect(await take([alert])).toBe('accepted')

    expect(submitted).toEqual([])
    expect(posts.map(({ text }) => text)).toEqual([expect.stringMatching(words)])
    expect(posts[0]?.text).toMatch(/`\/infra evacuate`\.\n• {2}`.* is down \(NodeDown.*<http:\/\/prometheus/s)
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
  test('that fires again after its request was decided is a duplicate', async () => {
    const { take, pass, setState, submitted, counts } = arrange()
    await take([down()])
    await setState(0, 'done')
    await take([resolved(down())])
    await pass(130_000)

    expect(await take([down()])).toBe('accepted')

    expect(submitted).toHaveLength(1)
    expect(counts()).toMatchObject({ received: 3, proposed: 1, duplicate: 1 })
  })

  test('that fires again is delayed for two minutes, while the other alerts of the delivery are taken, and then requested again', async () => {
    const { take, pass, submitted, counts, resolvedRequests } = arrange()
    await take([down()])
    await take([resolved(down())])

    expect(await take([down(), down('web-2')])).toBe('later')
    expect(submitted).toHaveLength(2)
    await pass(100_000)
    // A repeat of resolved, as from another Alertmanager, does not begin the two minutes again.
    await take([resolved(down())])
    expect(await take([down()])).toBe('later')
    await pass(30_000)
    expect(await take([down()])).toBe('accepted')

    expect(submitted).toHaveLength(3)
    expect(counts()).toMatchObject({ delayed: 2, proposed: 3 })
    // It was stale.
    await take([resolved(down())])
    expect(new Set(resolvedRequests).size).toBe(2)
  })

  test('before its request is made keeps it from being made', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = async () => void (await scene.replica()([resolved(down())]))

    expect(await scene.take([down()])).toBe('later')

    expect(scene.submitted).toEqual([])
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

  test('that finds nothing left, because another process recorded the request of the other one meanwhile, joins that', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = async () => {
      delete scene.hooks.beforeRecord
      await scene.replica()([down('web-1', { zone: 'b' })])
      throw new Refusal('account-changed', mrkdwn`Nothing is left to move.`)
    }

    expect(await scene.take([down()])).toBe('accepted')

    expect([scene.submitted.length, scene.posts]).toEqual([1, []])
  })

  test('whose rule cannot be applied now, because Slack does not answer, is delayed', async () => {
    const scene = arrange()
    scene.hooks.beforeRecord = () => {
      throw new Refusal('group-unknown', mrkdwn`Slack did not say.`)
    }

    expect(await scene.take([down()])).toBe('later')

    expect(scene.posts).toEqual([])
  })

  test('that takes too long is delayed, and a repeat goes on', async () => {
    const scene = arrange()
    const { die } = deathAtHook()
    const time = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(time.signal)
    scene.hooks.beforeRecord = () => {
      if (scene.submitted.length < 2) return undefined
      time.abort(new DOMException('The time is over', 'TimeoutError'))
      return die()
    }

    expect(await scene.take(servers(6))).toBe('later')
    expect(timeout).toHaveBeenCalledWith(20_000)
    timeout.mockRestore()
    expect(scene.submitted).toHaveLength(2)
    delete scene.hooks.beforeRecord
    expect(await scene.take(servers(6))).toBe('accepted')

    expect(scene.submitted).toHaveLength(6)
  })
})

describe('two alerts about one server', () => {
  const [first, other] = [down(), down('web-1', { job: 'ping' })]

  test('of which one is refused because a machine evacuates the server are listed, and not tried again', async () => {
    const scene = arrange()
    await scene.take([first])
    const [requestId = ''] = await scene.redis.keys(scene.keys.record('*'))
    await scene.redis.hset(requestId, 'origin', JSON.stringify({ channelId: 'C0OPS00001', userId: 'machine:ci', command: '/infra' }))

    expect(await scene.take([other])).toBe('accepted')
    expect(await scene.take([other])).toBe('accepted')

    expect(scene.posts).toEqual([expect.objectContaining({ text: expect.stringContaining('Another request is open.') })])
  })

  test('of which one begins after the process died that was to withdraw their request lose nothing', async () => {
    const scene = arrange()
    await scene.take([first])
    const { die, isDead } = deathAtHook()
    scene.hooks.beforeResolve = die
    void scene.replica()([resolved(first)])
    await isDead
    delete scene.hooks.beforeResolve

    expect(await scene.take([other])).toBe('accepted')

    expect(scene.resolvedRequests).toHaveLength(1)
    expect(scene.submitted).toHaveLength(2)
    expect(await scene.take([resolved(first)])).toBe('accepted')
    expect(scene.resolvedRequests).toHaveLength(1)
    expect(scene.posts).toEqual([])
  })
})

test('a server whose requests were withdrawn twice within 30 minutes is flapping: the next one mentions nobody', async () => {
  const { take, pass, submitted } = arrange()
  const outage = (minute: number) => {
    const startsAt = `2026-11-22T03:${minute}:00Z`
    return { firing: { ...down(), startsAt }, end: { ...resolved(down()), startsAt, endsAt: `2026-11-22T03:${minute + 1}:00Z` } }
  }
  for (const minute of [10, 20, 30]) {
    await take([outage(minute).firing])
    await take([outage(minute).end])
  }
  await pass(31 * 60_000)
  await take([outage(40).firing])

  expect(submitted.map(({ isQuiet }) => isQuiet)).toEqual([false, false, true, false])
})

test('a server whose requests were approved right before their alerts resolved is not flapping', async () => {
  const scene = arrange()
  for (const minute of [1, 2, 3]) {
    const firing = { ...down(), startsAt: `2026-11-22T03:0${minute}:00Z` }
    await scene.take([firing])
    scene.hooks.afterResolveRead = async (state) => {
      if (state === 'waiting') await scene.setState(minute - 1, 'approved')
    }
    await scene.take([{ ...resolved(firing), endsAt: `2026-11-22T03:0${minute}:30Z` }])
    await scene.setState(minute - 1, 'done')
  }

  expect(scene.submitted.map(({ isQuiet }) => isQuiet)).toEqual([false, false, false])
})

test('the thread of an approved request says that an alert resolved, and that one fires again, whichever process is first', async () => {
  const scene = arrange()
  const [ping, pong] = [down('web-1', { job: 'ping' }), down('web-1', { job: 'pong' })]
  await scene.take([down()])
  await scene.setState(0, 'approved')
  // It joins between the read of the alerts of the request and the step.
  scene.hooks.beforeTake = async () => {
    delete scene.hooks.beforeTake
    await scene.replica()([ping])
  }

  await scene.take([resolved(down())])
  await scene.take([ping])
  expect(scene.taken).toEqual(['note-resolved', 'note-firing'])
  await Promise.all([scene.take([resolved(ping)]), scene.replica()([resolved(ping)])])
  await Promise.all([scene.take([pong]), scene.replica()([pong])])

  expect(scene.taken).toEqual(['note-resolved', 'note-firing', 'note-resolved', 'note-firing'])
})

test.each([
  ['that requested it', 'web-1', 'resolved', ['resolved', 'firing'], 'alertTold'],
  ['about its target', 'standby', 'target-alerted', ['firing', 'resolved', 'firing'], 'targetTold'],
])('the thread of an approved request repeats a flapping alert %s at most every 10 minutes', async (_, server, report, said, field) => {
  const scene = arrange()
  const { take, redis, keys, owed, taken } = scene
  await take([down()])
  await scene.setState(0, 'approved')
  const [record = ''] = await redis.keys(keys.record('*'))
  const flap = async (job: string) => {
    await take([down(server, { job })])
    await take([resolved(down(server, { job }))])
  }
  if (server === 'web-1') await take([resolved(down())])
  for (const job of ['a', 'b', 'c']) await flap(job)
  expect([taken.length, owed]).toEqual([server === 'web-1' ? 7 : 6, said.map(() => report)])
  expect(JSON.parse((await redis.hget(record, field)) ?? '')).toMatchObject({ isFiring: true })

  const { resolvedAt } = JSON.parse((await redis.hget(record, field)) ?? '')
  await redis.hset(record, field, JSON.stringify({ isFiring: true, resolvedAt: resolvedAt - 10 * 60_000 }))
  await flap('d')
  expect(owed).toHaveLength(said.length + 1)
})

test('the thread of an approved request does not say that its alert has resolved once another one has joined it', async () => {
  const scene = arrange()
  await scene.take([down()])
  await scene.setState(0, 'approved')
  scene.hooks.beforeResolve = async () => {
    delete scene.hooks.beforeResolve
    await scene.replica()([down('web-1', { job: 'ping' })])
  }

  await scene.take([resolved(down())])
  expect(scene.resolvedRequests).toEqual([])
  await scene.take([resolved(down('web-1', { job: 'ping' }))])

  expect(scene.resolvedRequests).toHaveLength(1)
})

async function newWarnings({ redis, keys }: ReturnType<typeof arrange>): Promise<unknown> {
  const records = await redis.keys(keys.record('*'))
  const all = await Promise.all(records.map((record) => redis.hmget(record, 'kind', 'newWarnings')))
  return JSON.parse(all[0]?.[1] ?? '[]')
}

describe('the target', () => {
  const since = { code: 'target-alerted', target: 'standby', since: Date.parse('2026-11-22T03:00:00Z') }

  test.each([
    ['in the same delivery', true],
    ['in an earlier one', false],
  ])('about which another alert fires %s is something to check first', async (_, isSame) => {
    const { take, submitted, posts } = arrange()
    if (!isSame) await take([down('standby')])

    await take(isSame ? [down('web-1'), down('standby')] : [down('web-1')])

    expect(submitted).toMatchObject([{ warnings: [since] }])
    expect(posts.map(({ text }) => text)).toEqual([expect.stringContaining('standby is its own target')])
  })

  test.each([
    ['while the request is made', 'beforeRecord'],
    ['while the request takes another step', 'afterFind'],
  ] as const)('about which an alert fires %s is something to check first', async (_, hook) => {
    const { take, replica, hooks, redis, keys } = arrange()
    const recorded = async () => (await redis.keys(keys.record('*')))[0] ?? ''
    if (hook === 'afterFind') await take([down('web-1')])
    hooks[hook] = async () => {
      delete hooks[hook]
      if (hook === 'afterFind') await redis.hincrby(await recorded(), 'revision', 1)
      else await replica()([down('standby')])
    }

    await take([hook === 'afterFind' ? down('standby') : down('web-1')])

    expect(JSON.parse((await redis.hget(await recorded(), 'newWarnings')) ?? '[]')).toEqual([since])
  })

  test('that an alert is about is said in the thread if the request is approved at that moment, once', async () => {
    const { take, hooks, setState, taken } = arrange()
    await take([down('web-1')])
    hooks.beforeWarn = async () => {
      delete hooks.beforeWarn
      await setState(0, 'tracking')
    }

    for (const job of ['node', 'node', 'ping']) await take([down('standby', { job })])
    expect(taken).toEqual(['warn'])
  })

  test('is nothing to check if its alert resolves right before that is added', async () => {
    const { take, replica, hooks, redis, keys } = arrange()
    await take([down('web-1')])
    hooks.afterFind = async () => {
      delete hooks.afterFind
      await replica()([resolved(down('standby'))])
    }

    await take([down('standby')])

    const [record = ''] = await redis.keys(keys.record('*'))
    expect(await redis.hget(record, 'newWarnings')).toBeNull()
  })

  const until = expect.any(Number)

  test.each([
    ['began to fire after the request', false],
    ['fired when the request was made, which is signed', true],
  ])('is to check until the last of its alerts that %s has resolved, and again when one fires', async (_, isSigned) => {
    const scene = arrange()
    const both = [down('standby'), down('standby', { job: 'ping' })] as const
    await scene.take(isSigned ? [...both, down('web-1')] : [down('web-1')])
    if (!isSigned) await scene.take([...both])
    const before = await newWarnings(scene)

    await scene.take([resolved(both[0])])
    expect(await newWarnings(scene)).toEqual(before)
    for (const _again of [1, 2]) await scene.take([resolved(both[1])])
    expect(await newWarnings(scene)).toEqual([{ ...since, until }])
    await scene.pass(130_000)
    await scene.take([both[1]])
    expect(await newWarnings(scene)).toEqual([since])
  })

  test.each([
    ['while the request is made', 'beforeRecord'],
    ['in another process, while it is added', 'beforeWarn'],
  ] as const)('is nothing to check if its alert resolves %s', async (_, hook) => {
    const scene = arrange()
    scene.hooks[hook] = async () => {
      delete scene.hooks[hook]
      await scene.replica()([resolved(down('standby'))])
    }
    await (hook === 'beforeWarn' ? scene.take([down('web-1')]) : undefined)
    await scene.take([down('standby'), down('web-1')])

    expect(await newWarnings(scene)).toEqual([{ ...since, until }])
  })

  test('about which no alert is known costs no reads when one resolves', async () => {
    const scene = arrange()
    await scene.take([down('web-1')])
    scene.hooks.afterFind = () => Promise.reject(new Error('read'))
    expect(await scene.take([resolved(down('web-77'))])).toBe('accepted')
  })

  test('is nothing to check once its alert has resolved', async () => {
    const { take, submitted } = arrange()
    await take([down('standby')])
    await take([resolved(down('standby'))])
    await take([down('web-1')])

    expect(submitted).toMatchObject([{ warnings: [] }])
  })
})

describe('the message of what was not requested', () => {
  test('calls the approvers, offers to evacuate by hand, and shows when its alerts resolve', async () => {
    const { take, posts, updates } = arrange()
    await take([down('standby'), down('web-77')])
    expect(posts.map(({ text }) => text)).toEqual([expect.stringContaining('<!subteam^S0ONCALL01>')])

    await take([resolved(down('standby'))])
    await take([resolved(down('web-77'))])

    expect(updates).toEqual([
      expect.stringMatching(/^:warning:.*2 alerts.*standby is down [^\n]*\(resolved after 9.min\)\n(?!.*resolved)/su),
      expect.stringMatching(/^:white_check_mark: \*Resolved\.\*/),
    ])
  })

  test('neither calls anybody nor offers anything about a server without addresses', async () => {
    const { take, hooks, posts } = arrange()
    hooks.beforeRecord = () => {
      throw new CheckFailed({ code: 'nothing-on-server', bgp: ['203.0.113.40'] }, { why: 'No Elastic IPs.' })
    }
    await take([down()])

    expect(posts.map(({ text }) => text)).toEqual([expect.stringMatching(/^:warning: \*Alert:\* web-1\. Nothing was requested\.\n/)])
  })

  test('is posted again for the next outage, and for one that fires again after it resolved', async () => {
    const { take, pass, posts } = arrange()
    await take([down('web-77')])
    await take([{ ...down('web-77'), startsAt: '2026-11-23T03:00:00Z' }])
    await take([resolved(down('web-77'))])
    await pass(130_000)
    await take([down('web-77')])

    expect(posts).toHaveLength(3)
  })

  test('is followed by a request as soon as one is possible', async () => {
    const { take, submitted, hooks, posts } = arrange()
    hooks.beforeRecord = async () => {
      throw refusal('An address is locked.')
    }
    await take([down()])
    await take([down()])
    delete hooks.beforeRecord

    await take([down()])

    expect(posts).toHaveLength(1)
    expect(submitted).toHaveLength(1)
  })

  test('shows every end, also if Slack takes an update of another process later', async () => {
    const scene = arrange()
    await scene.take([down('web-77'), down('web-78')])
    scene.hooks.beforeUpdate = async () => {
      delete scene.hooks.beforeUpdate
      await scene.replica()([resolved(down('web-78'))])
    }

    await scene.take([resolved(down('web-77'))])
    await scene.sweep()

    expect(scene.updates.at(-1)).toMatch(/^:white_check_mark:/)
  })

  test('has no alert that another process has just listed, so that each is shown when it resolves', async () => {
    const scene = arrange()
    let isFirst = true
    scene.hooks.beforeList = async () => {
      if (!isFirst) return
      isFirst = false
      await scene.replica()([down('web-77')])
    }

    await scene.take([down('web-77'), down('web-78')])
    for (const name of ['web-77', 'web-78']) await scene.take([resolved(down(name))])

    expect(scene.posts.map(({ text }) => text)).toEqual([
      expect.stringContaining('web-77'),
      expect.stringMatching(/^(?!.*web-77).*web-78/s),
    ])
    expect(scene.updates).toEqual([expect.stringMatching(/^:white_check_mark:/), expect.stringMatching(/^:white_check_mark:/)])
  })

  test('is updated once Slack answers again', async () => {
    const scene = arrange()
    await scene.take([down('web-77')])
    scene.hooks.update = () => ({ is: 'unknown', problem: 'no answer' })

    expect(await scene.take([resolved(down('web-77'))])).toBe('accepted')
    delete scene.hooks.update
    await scene.sweep()

    expect(scene.updates).toEqual([expect.stringMatching(/^:white_check_mark:/)])
  })
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

test('a repeat is a duplicate if its request ends right after it was read', async () => {
  const scene = arrange()
  await scene.take([down()])
  scene.hooks.afterFind = async () => {
    delete scene.hooks.afterFind
    await scene.setState(0, 'failed')
  }

  await scene.take([down()])
  await scene.take([down()])

  expect(scene.submitted).toHaveLength(1)
  expect(scene.counts()).toEqual({ received: 3, proposed: 1, duplicate: 2 })
})

test('a delivery that is refused after another process requested the same for it, and that ended, is a duplicate', async () => {
  const scene = arrange()
  scene.hooks.beforeRecord = async () => {
    delete scene.hooks.beforeRecord
    await scene.replica()([down()])
    await scene.setState(0, 'failed')
    throw refusal('Nothing to move.')
  }

  await scene.take([down()])
  await scene.take([down()])

  expect(scene.submitted).toHaveLength(1)
  expect(scene.posts).toEqual([])
  expect(scene.counts()).toEqual({ received: 3, proposed: 1, duplicate: 2 })
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
