import { describe, expect, test } from 'vitest'
import type { Request } from '../../src/domain/request.ts'
import { deliver, show, sweepOutbox } from '../../src/outbox/outbox.ts'
import { reportNames } from '../../src/record/steps.ts'
import { encodeFields } from '../../src/record/store.ts'
import type { Posted, SearchResult } from '../../src/slack/web-api.ts'
import { jump } from '../given/jump.ts'
import { lost, outboxApp, sent } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { minutes, moveFacts, requestFor } from '../given/request.ts'

type Options = NonNullable<Parameters<typeof outboxApp>[1]>

interface Case extends Options {
  request?: Partial<Request>
  /** What Redis has of the message. */
  message?: Record<string, unknown>
  /** The lease has run out before anything is sent. */
  isTooLate?: boolean
}

const unsure = { status: 'unsure', token: 'x' }
const timedOut: Posted = { is: 'timed-out', problem: 'no answer' }
/** Slack did not answer its last try in time. */
const slow = (agoMs: number) => ({ ...unsure, tried: Date.now() - agoMs, slow: true })
const toChannel = 'post to C0OPS00001'
const toThread = 'post to C0OPS00001 below the card'
const toAda = 'post to U0ADA00001'

/** Records a request that owes one message, and delivers it. Returns what Slack received, and what Redis has of the message then. */
async function deliverOne(name: string, { request: more, message, isTooLate, ...options }: Case = {}) {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  const request = requestFor({ facts: moveFacts, state: name === 'card' ? 'waiting' : 'done', ...more })
  const fields = message || name !== 'card' ? { [`outbox:${name}`]: JSON.stringify(message ?? { status: 'queued' }) } : {}
  await redis.hset(keys.record(request.id), { ...encodeFields(request), ...fields })
  await redis.zadd(keys.outbox, 1, `${request.id}/${name}`)
  const { app, ...seen } = outboxApp(shared, {
    // This is asked for first under each lease.
    verifyRecord: () => {
      if (isTooLate) expireLeases()
      return 'genuine'
    },
    ...options,
  })
  const delivered = await deliver(app, request.id, name)
  const left = JSON.parse((await redis.hget(keys.record(request.id), `outbox:${name}`)) ?? '{}')
  const dueInMs = Number((await redis.zscore(keys.outbox, `${request.id}/${name}`)) ?? Number.NaN) - (await app.store.now())
  const isOutdatedOwed = (await redis.zscore(keys.outbox, `${request.id}/outdated`)) !== null
  return { ...seen, app, redis, keys, request, delivered, left, dueInMs, isOutdatedOwed }
}

const expireLeases = () => jump(60_000)

/** What Slack receives, and what becomes of the message. */
interface Outcome {
  calls?: string[]
  /** What Redis has of it, and when it is due again, in ms. */
  status?: string
  dueInMs?: number
  delivered?: object
  /** What is in the last text that Slack received, and the lines of the log. */
  says?: string
  log?: unknown[]
}

const posted = { request: { cardTs: undefined } }
const found = { message: unsure, searches: [{ is: 'found', ts: '3.1', all: ['3.1'] }] satisfies SearchResult[] }
const failing = (is: SearchResult): Pick<Case, 'searches' | 'message'> => ({ message: unsure, searches: [is] })
const refusedFor = (error: string) => ({ posts: [{ is: 'refused', error }] satisfies Posted[] })
const archived = refusedFor('is_archived')
const repeat = 'Possible duplicate'
const noticeRefused = expect.stringContaining('Slack refused a notice in OPS_CHANNEL (is_archived)')
const undelivered = expect.stringContaining("Couldn't deliver a message")

const toSlack: Record<string, [name: string, of: () => Case, outcome: Outcome]> = {
  'a card is posted': ['card', () => posted, { calls: [toChannel] }],
  'a card is updated': ['card', () => ({}), { calls: ['update'] }],
  'a report is posted': ['ended', () => ({}), { calls: [toThread] }],
  'a report that a search did not find is posted': ['ended', () => ({ message: unsure }), { calls: [toThread] }],
  'a report that a search found is not': ['ended', () => found, { calls: [] }],
  'a card that a search found is updated': ['card', () => ({ ...posted, ...found }), { calls: ['update'] }],
  'a report that the channel refuses goes to the requester': [
    'ended',
    () => archived,
    { calls: [toThread, toAda], says: '(is_archived)', log: [] },
  ],
  'a report whose card the channel refuses goes to the requester alone': [
    'ended',
    () => ({ ...posted, ...archived }),
    { calls: [toChannel, toAda] },
  ],
  'a report that may have been sent says so to the requester': ['ended', () => ({ message: unsure, ...archived }), { says: repeat }],
  'a report is sent again with a note if Slack allows no search': ['ended', () => failing({ is: 'cannot-search' }), { says: repeat }],
  'a report is sent again with a note if Slack fails for ten minutes': [
    'ended',
    () => ({ ...failing({ is: 'unknown', problem: 'x' }), message: { ...unsure, since: Date.now() - 11 * minutes } }),
    { says: repeat },
  ],
  'a report whose answer did not come in time is sent again after 30 s': [
    'ended',
    () => ({ message: slow(30_100) }),
    { calls: [toThread] },
  ],
  'a report whose answer was another is sent again at once': [
    'ended',
    () => ({ message: { ...slow(0), slow: undefined } }),
    { calls: [toThread] },
  ],
  // Slack may be a workspace whose directory never answers.
  'a report does not wait for who somebody is': [
    'stopped',
    () => ({ request: { state: 'untracked', stoppedBy: 'U0BEN00001' }, names: () => new Promise(() => {}) }),
    { calls: [toThread] },
  ],
}
for (const error of [
  'thread_not_found',
  'restricted_action_thread_only_channel',
  'restricted_action_non_threadable_channel',
  'cannot_reply_to_message',
  'a_code_of_next_year',
])
  toSlack[`a report goes to the requester if Slack refuses it with ${error}`] = [
    'ended',
    () => refusedFor(error),
    { calls: [toThread, toAda], says: `(${error})`, log: [] },
  ]

test.each(Object.entries(toSlack))('under a lease that holds, %s', async (_, [name, of, { calls, says, log }]) => {
  const delivery = await deliverOne(name, of())
  const { redis, keys, request } = delivery
  if (calls) expect(delivery.calls).toEqual(calls)
  if (says) expect(delivery.texts.at(-1)).toContain(says)
  if (log) expect(delivery.log).toEqual(log)
  expect([delivery.delivered, delivery.left.status]).toEqual([{ is: 'sent' }, 'settled'])
  // A record does not expire because one of its messages was sent.
  expect(await redis.pttl(keys.record(request.id))).toBe(-1)
})

const later: Record<string, [name: string, of: () => Case, outcome: Outcome]> = {
  'a process that was suspended until its lease ran out posts no card': [
    'card',
    () => ({ ...posted, isTooLate: true }),
    { calls: [], status: 'queued' },
  ],
  'it updates no card': ['card', () => ({ isTooLate: true }), { calls: [], status: 'queued' }],
  'it posts no report': ['ended', () => ({ isTooLate: true }), { calls: [], status: 'queued' }],
  'it posts nothing after a long search, either': [
    'ended',
    () => ({ message: unsure, beforeSearch: expireLeases }),
    { calls: [], status: 'unsure' },
  ],
  'a report of which nothing was sent is sent again at once': [
    'ended',
    () => ({ posts: [{ is: 'unsent', problem: 'no answer' }] }),
    { calls: [toThread], status: 'queued', dueInMs: 3_000 },
  ],
  'a card is tried again if another update may be taken: the token is being replaced': [
    'card',
    () => ({ updates: [{ is: 'refused', error: 'token_revoked' }] }),
    { calls: ['update'], status: 'queued', log: [] },
  ],
}
for (const [name, of] of [
  ['card', posted],
  ['ended', {}],
] as const) {
  const [away, limited] = [failing({ is: 'unknown', problem: 'HTTP status 503' }), failing({ is: 'rate-limited', retryInMs: 20_000 })]
  later[`${name}: it is not sent while Slack fails, but searched for later`] = [
    name,
    () => ({ ...of, ...away }),
    { calls: [], status: 'unsure', dueInMs: 3_000 },
  ]
  later[`${name}: or while Slack limits the searches`] = [
    name,
    () => ({ ...of, ...limited }),
    { calls: [], status: 'unsure', dueInMs: 20_000 },
  ]
}
// What was not answered in time is only searched for, until 30 s later.
for (const [agoMs, dueInMs] of [
  [3_100, 6_900],
  [10_100, 19_900],
] as const)
  for (const is of ['absent', 'cannot-search'] as const)
    later[`a report whose answer did not come ${agoMs} ms ago is only searched for (${is})`] = [
      'ended',
      () => ({ message: slow(agoMs), searches: [{ is }] }),
      { calls: [], status: 'unsure', dueInMs },
    ]

test.each(Object.entries(later))('%s', async (_, [name, of, { calls, status, dueInMs, log }]) => {
  const delivery = await deliverOne(name, of())
  expect([delivery.calls, delivery.left.status, delivery.delivered]).toEqual([calls, status, { is: 'later' }])
  if (dueInMs !== undefined) expect(Math.abs(delivery.dueInMs - dueInMs)).toBeLessThan(1_000)
  if (log) expect(delivery.log).toEqual(log)
})

const refusedDirectly = { directPosts: [{ is: 'refused', error: 'user_disabled' }] satisfies Posted[] }
const emergency = { by: 'U0ADA00001', rule: 'APPROVERS', via: 'U0ADA00001', breakGlass: true as const }
test.each<[string, name: string, of: Case, calls: string[], log: unknown[]]>([
  ['ends, and is told to the operators', 'ended', { ...archived, ...refusedDirectly }, [toThread, toAda], [undelivered, noticeRefused]],
  [
    'goes to no machine directly',
    'ended',
    { ...archived, request: { origin: { ...requestFor().origin, userId: 'alerts' } } },
    [toThread, 'post to C0NIGHT001'],
    [undelivered, noticeRefused],
  ],
  [
    'of an emergency approval is told to the operators at once, and still goes to the requester',
    'break-glass',
    { ...archived, request: { state: 'approved', decision: emergency } },
    [toThread, toAda],
    [expect.stringContaining('*Emergency approval* not posted in its channel'), noticeRefused],
  ],
])('a report that Slack refuses for good %s', async (_, name, of, calls, log) => {
  const delivery = await deliverOne(name, of)
  expect(delivery.calls).toEqual(expect.arrayContaining(calls))
  expect([delivery.left.status, delivery.log]).toEqual(['settled', log])
})

const ago = (ms: number) => Date.now() - ms
test.each<[string, () => Case, number[]]>([
  ['is noted once Slack has the report', () => ({ request: { sentAt: ago(9_000), endedAt: ago(5_000) } }), [5]],
  ['is not noted for a request that was never sent, such as a rejected one', () => ({ request: { endedAt: ago(5_000) } }), []],
  [
    'is not noted while Slack refuses the report',
    () => ({ request: { sentAt: ago(9_000), endedAt: ago(5_000) }, posts: [{ is: 'rate-limited', retryInMs: 1_000 }] }),
    [],
  ],
])('the time from the end of a change to its report %s', async (_, of, expected) => {
  const { reported } = await deliverOne('ended', of())
  expect(reported.map((ms) => Math.round(ms / 1_000))).toEqual(expected)
})

describe('a message that may have been sent', () => {
  test('is searched for from a minute before the request up to ten minutes after its last try', async () => {
    const request = { cardTs: undefined, createdAt: 1_000_000 }
    const known = await deliverOne('card', { message: { ...unsure, tried: 5_000_000 }, request })
    const unknown = await deliverOne('card', { message: unsure, request })
    const place = { channelId: 'C0OPS00001', key: `${known.request.id}/card`, oldestMs: 940_000 }
    expect([known.found, unknown.found]).toEqual([[{ ...place, latestMs: 5_600_000 }], [place]])
  })

  test.each<[string, Posted[], string]>([
    ['in its thread', [timedOut], toThread],
    ['directly', archived.posts, toAda],
  ])('because Slack did not answer in time is not sent again by the next try: %s', async (_, posts, place) => {
    const { calls, left, sweep } = await deliverOne('ended', { posts, directPosts: [timedOut] })
    expect(left).toMatchObject({ status: 'unsure', slow: true })
    await sweep()
    expect(calls.filter((call) => call === place)).toHaveLength(1)
  })

  test('is searched for also after Slack refused the next try', async () => {
    const shared = connectTestRedis()
    const request = requestFor({ facts: moveFacts, cardTs: undefined })
    await shared.redis.hset(shared.keys.record(request.id), encodeFields(request))
    const { app, calls } = outboxApp(shared, {
      posts: [lost, { is: 'refused', error: 'invalid_auth' }],
      searches: [{ is: 'cannot-search' }, { is: 'found', ts: '2.1', all: ['2.1'] }],
    })

    const delivered = []
    for (let time = 0; time < 3; time += 1) delivered.push(await deliver(app, request.id, 'card'))

    expect(calls).toEqual([toChannel, toChannel, 'update'])
    expect(delivered).toEqual([{ is: 'later' }, { is: 'refused', error: 'invalid_auth' }, { is: 'sent' }])
  })
})

describe('a card that Slack refuses to update', () => {
  const gone = ['message_not_found', 'channel_not_found', 'is_archived', 'is_inactive']
  test.each(gone)('is settled without a word if it is gone: %s', async (error) => {
    const { left, isOutdatedOwed, log } = await deliverOne('card', { updates: [{ is: 'refused', error }] })
    expect({ status: left.status, isOutdatedOwed, log }).toEqual({ status: 'settled', isOutdatedOwed: false, log: [] })
  })

  test.each(['msg_too_long', 'edit_window_closed', 'cant_update_message', 'invalid_blocks', 'not_in_channel', 'a_new_code'])(
    'is told in its thread and to the operators once, and tried again only after the next step: %s',
    async (error) => {
      const { app, redis, keys, request, ...first } = await deliverOne('card', { updates: [{ is: 'refused', error }] })
      // It was posted, so nobody may discard the request.
      expect(first).toMatchObject({ left: { status: 'settled' }, isOutdatedOwed: true, delivered: { is: 'sent' } })
      const notice = keys.message(`report-undeliverable:outdated:${request.id}`)
      await redis.hset(keys.record(request.id), 'revision', '2')
      await redis.del(notice)

      await deliver({ ...app, lines: { ...app.lines, write: () => true } }, request.id, 'card')

      expect(await redis.exists(notice)).toBe(0)
      expect(first.log).toEqual([expect.stringMatching(`Slack refused to update .*${error}`)])
    },
  )
})

describe('a sweep', () => {
  /** A request that is done, and whose alert resolved after that. Its thread has been told neither. */
  async function withTwoReports(options: Options) {
    const shared = connectTestRedis()
    const { redis, keys } = shared
    const request = requestFor({ facts: moveFacts, state: 'done', sentAt: 1, endedAt: 2 })
    const owedBy = (revision: number) => JSON.stringify({ status: 'queued', owedBy: revision })
    const reports = { 'outbox:ended': owedBy(5), 'outbox:resolved': owedBy(6) }
    await redis.hset(keys.record(request.id), { ...encodeFields(request), cardRevision: '1', ...reports })
    const letBeDue = () => redis.zadd(keys.outbox, 1, `${request.id}/resolved`, 3, `${request.id}/ended`)
    await letBeDue()
    return { ...shared, request, letBeDue, ...outboxApp(shared, options) }
  }
  const inThread = (texts: string[]) => texts.map((text) => /Done|resolved/.exec(text)?.[0])
  const refusals: string[] = []
  const sweep = (app: Parameters<typeof sweepOutbox>[0]) => sweepOutbox(app, (id) => refusals.push(id))

  test('sends the reports of a request in the order of its steps after an outage of Slack', async () => {
    const { app, texts, redis, keys, letBeDue } = await withTwoReports({ posts: [lost, sent] })

    await sweep(app)
    // The first one may be in the thread, and is searched for later. Nothing goes before it.
    expect(texts).toHaveLength(1)
    await letBeDue()
    await sweep(app)

    expect(inThread(texts)).toEqual(['Done', 'Done', 'resolved'])
    expect(await redis.zrange(keys.outbox, '0', '-1')).toEqual([expect.stringContaining('/late-look')])
  })

  test('sends reports before cards, and a step that is shown tries none twice', async () => {
    const swept = await withTwoReports({})
    await swept.redis.zadd(swept.keys.outbox, 0, `${swept.request.id}/card`)
    await swept.redis.hset(swept.keys.record(swept.request.id), 'revision', '2')
    const shown = await withTwoReports({ posts: [lost] })

    await sweep(swept.app)
    await show(shown.app, shown.request.id)

    expect(swept.calls).toEqual([toThread, toThread, 'update'])
    expect(shown.calls).toEqual(['update', toThread])
  })

  test('and a step that is shown at the same moment send each report once, in that order', async () => {
    const { app, texts, request, letBeDue } = await withTwoReports({})

    await Promise.all([sweep(app), show(app, request.id)])
    await letBeDue()
    await sweep(app)

    expect(inThread(texts)).toEqual(['Done', 'resolved'])
  })

  test('removes members that no version of Lockkeeper wrote, and those of lost records', async () => {
    const shared = connectTestRedis()
    const { redis, keys } = shared
    const ofReports = reportNames.map((name) => `lost/${name}`)
    const members = ['garbage', '/card', 'lost/', 'lost/card', 'lost:x/notice', 'lost/no-name', ...ofReports]
    for (const member of members) await redis.zadd(keys.outbox, 1, member)
    const { app, errors } = outboxApp(shared)

    await sweep(app)

    expect(await redis.zrange(keys.outbox, '0', '-1')).toEqual([])
    expect(errors).toEqual(['jobs: removed 3 malformed members of the outbox'])
  })

  test('leaves a record that cannot be read, and reports it', async () => {
    const shared = connectTestRedis()
    const { redis, keys } = shared
    await redis.hset(keys.record('broken'), 'state', '"waiting"', 'origin', '"of another age"')
    await redis.zadd(keys.outbox, 1, 'broken/card')
    const { app, errors } = outboxApp(shared)

    await sweep(app)

    expect(await redis.zcount(keys.outbox, Date.now() + 50_000, Date.now() + 70_000)).toBe(1)
    expect(errors).toHaveLength(1)
  })

  test('says which card Slack refuses', async () => {
    const shared = connectTestRedis()
    const request = requestFor({ facts: moveFacts, cardTs: undefined })
    await shared.redis.hset(shared.keys.record(request.id), encodeFields(request))
    await shared.redis.zadd(shared.keys.outbox, 1, `${request.id}/card`)

    await sweep(outboxApp(shared, { posts: [{ is: 'refused', error: 'is_archived' }] }).app)

    expect(refusals).toContain(request.id)
  })
})
