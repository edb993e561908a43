import { describe, expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { createDeliver, createOutbox, type Lease, type Outbox, type OutboxName, type Settlement } from '../../../src/outbox/outbox.ts'
import type { Renderer } from '../../../src/outbox/render.ts'
import { encodeFields } from '../../../src/requests/store.ts'
import type { Answerable } from '../../../src/slack/interactions.ts'
import type { Messenger, SearchResult } from '../../../src/slack/web-api.ts'
import { connectTestRedis } from '../redis-for-test.ts'
import { requestFor } from '../request-for-test.ts'

const message = { text: 'Done.', blocks: [] }
const withTable: Answerable = { table: { text: 'as a table', blocks: [] }, instead: message }

/** Redis' clock when a message was sent. */
const nowMs = 50_000

interface Case {
  mode?: Lease['mode']
  request?: Request
  /** The time that is left to send under the lease, in ms. */
  leftMs?: number
  /** How long each search for a lost message takes, in ms. */
  searchMs?: number
  /** The result of a search for a lost message. */
  found?: SearchResult
  /** How long the message has been searched for, in ms. */
  searchedForMs?: number
  triedUntilMs?: number
  triedCardless?: boolean
  /** The report. */
  report?: Answerable
  /** Slack's answer to a post in the channel. If the report has a table, Slack takes it without one. */
  posted?: Awaited<ReturnType<Messenger['post']>>
  /** Slack's answer to an update. */
  updated?: Awaited<ReturnType<Messenger['update']>>
  isOutdatedTold?: boolean
  namesOf?: () => Promise<Map<string, string>>
}

/** Delivers one message under a lease. Returns what Slack received and what was settled. */
async function deliver(
  name: OutboxName,
  {
    mode = 'fresh',
    request = requestFor(),
    leftMs = 5_000,
    searchMs = 0,
    found = { is: 'absent' },
    searchedForMs = 0,
    triedUntilMs,
    triedCardless = false,
    report = message,
    posted = { is: 'sent', ts: '2.1', channelId: 'C0OPS00001' },
    updated = { is: 'sent' },
    isOutdatedTold = false,
    namesOf = async () => new Map(),
  }: Case,
) {
  const sent: string[] = []
  const settlements: Settlement[] = []
  const searches: object[] = []
  const outbox = {
    lease: async () => ({
      lease: { token: 't', mode, searchedForMs, triedUntilMs, triedCardless, isOutdatedTold, sendBefore: performance.now() + leftMs },
      request,
      now: () => nowMs,
    }),
    settle: async (_id: string, _name: OutboxName, _held: unknown, settlement: Settlement) => {
      settlements.push(settlement)
      return settlement.status === 'settled' ? 'settled' : 'later'
    },
  } as unknown as Outbox
  const messenger = {
    post: async ({ channelId }: { channelId: string }, { text }: { text: string }) => {
      sent.push(`post to ${channelId}${text === 'again' ? ', again' : ''}${text === 'as a table' ? ', as a table' : ''}`)
      if (report !== message && text !== 'as a table') return { is: 'sent', ts: '4.1', channelId }
      return channelId.startsWith('U') ? { is: 'sent', ts: '3.1', channelId } : posted
    },
    update: async () => {
      sent.push('update')
      return updated
    },
    find: async (where: object) => {
      searches.push(where)
      await new Promise((resolve) => setTimeout(resolve, searchMs))
      return found
    },
  } as unknown as Messenger
  const render = {
    canRender: () => true,
    card: () => message,
    report: () => report,
    asRepeat: () => ({ ...message, text: 'again' }),
    asDirect: () => message,
  } as Renderer
  const undeliverable: string[] = []
  const onUndeliverable = (_: Request, error: string, report?: string) => void undeliverable.push(`${report}: ${error}`)
  const reported: number[] = []
  const onReported = (_: Request, sinceEndMs: number) => void reported.push(sinceEndMs)
  const delivered = await createDeliver({ outbox, messenger, render, namesOf, onUndeliverable, onReported })(request.id, name)
  return { delivered, sent, settlements, searches, reported, undeliverable }
}

describe('under a lease that holds', () => {
  test('a report does not wait for a Slack that never answers who somebody is', async () => {
    const { sent } = await deliver('ended', { namesOf: () => new Promise(() => {}), leftMs: 3_000 })

    expect(sent).toEqual(['post to C0OPS00001'])
  })

  test.each([
    ['a card is posted', 'card', { request: requestFor({ cardTs: undefined }) }, ['post to C0OPS00001']],
    ['a card is updated', 'card', {}, ['update']],
    ['a report is posted', 'ended', {}, ['post to C0OPS00001']],
    ['a report that a search did not find is posted', 'ended', { mode: 'unsure' }, ['post to C0OPS00001']],
    [
      'a report whose table Slack refuses is posted without it',
      'ended',
      { report: withTable, posted: { is: 'refused', error: 'invalid_blocks' } },
      ['post to C0OPS00001, as a table', 'post to C0OPS00001'],
    ],
    [
      'a report that the channel refuses goes to the requester',
      'ended',
      { posted: { is: 'refused', error: 'is_archived' } },
      ['post to C0OPS00001', 'post to U0ADA00001'],
    ],
  ] as const)('%s', async (_, name, of, expected) => {
    const { delivered, sent, settlements } = await deliver(name, of)
    expect(sent).toEqual(expected)
    expect(delivered).toEqual({ is: 'sent' })
    expect(settlements).toMatchObject([{ status: 'settled' }])
  })
})

describe('the time from the end of a change to its report', () => {
  const item = { id: 'eip_1', state: 'done' as const, causes: [], endedAt: 20_000 }

  test.each([
    ['is noted once Slack has the report', { sentAt: 1_000, endedAt: 48_000 }, [2_000]],
    ['counts from the end of the last item', { sentAt: 1_000, endedAt: 49_500, items: [item, { ...item, endedAt: 49_000 }] }, [1_000]],
    ['is not noted for a request that was never sent, such as a rejected one', { endedAt: 48_000 }, []],
  ])('%s', async (_, of, expected) => {
    expect((await deliver('ended', { request: requestFor({ state: 'done', ...of }) })).reported).toEqual(expected)
  })

  test.each(['card', 'late'] as const)('is not noted for another message: %s', async (name) => {
    expect((await deliver(name, { request: requestFor({ state: 'done', sentAt: 1_000, endedAt: 48_000 }) })).reported).toEqual([])
  })

  test('is not noted while Slack refuses the report', async () => {
    const request = requestFor({ state: 'done', sentAt: 1_000, endedAt: 48_000 })
    const posted = { is: 'rate-limited', retryInMs: 1_000 } as const
    expect((await deliver('ended', { request, posted })).reported).toEqual([])
  })
})

describe('a process that was suspended until its lease ran out', () => {
  test.each([
    ['posts no card', 'card', { request: requestFor({ cardTs: undefined }) }],
    ['updates no card', 'card', {}],
    ['posts no report', 'ended', {}],
  ] as const)('%s, and settles that it sent nothing', async (_, name, of) => {
    const { delivered, sent, settlements } = await deliver(name, { ...of, leftMs: -1 })
    expect(sent).toEqual([])
    expect(delivered).toEqual({ is: 'later' })
    expect(settlements).toEqual([{ status: 'queued', retryInMs: 0 }])
  })

  test('sends nothing after a long search, either', async () => {
    const { sent, settlements } = await deliver('ended', { mode: 'unsure', leftMs: 20, searchMs: 60 })
    expect(sent).toEqual([])
    expect(settlements).toEqual([{ status: 'queued', retryInMs: 0 }])
  })
})

describe('a message that may have been sent', () => {
  test('is searched for in the time up to ten minutes after its last try', async () => {
    const request = requestFor({ cardTs: undefined, createdAt: 1_000_000 })
    const known = await deliver('card', { mode: 'unsure', request, triedUntilMs: 5_000_000 })
    const unknown = await deliver('card', { mode: 'unsure', request })
    const place = { channelId: 'C0OPS00001', key: `${request.id}/card`, oldestMs: 940_000 }
    expect(known.searches).toEqual([{ ...place, latestMs: 5_600_000 }])
    expect(unknown.searches).toEqual([place])
  })

  test('before its card was posted is searched for in the channel, too', async () => {
    const below = await deliver('ended', { mode: 'unsure' })
    const early = await deliver('ended', { mode: 'unsure', triedCardless: true })
    const isBelow = { threadTs: requestFor().cardTs }
    expect(below.searches).toMatchObject([isBelow])
    expect(early.searches).toMatchObject([isBelow, { channelId: 'C0OPS00001' }])
    expect(early.searches[1]).not.toHaveProperty('threadTs')
  })

  test.each([
    ['while Slack fails', { is: 'unknown', problem: 'HTTP status 503' }, 3_000],
    ['while Slack limits the searches', { is: 'rate-limited', retryInMs: 20_000 }, 20_000],
  ] as const)('is not sent again %s, but searched for later', async (_, found, retryInMs) => {
    for (const name of ['card', 'ended'] as const) {
      const request = requestFor(name === 'card' ? { cardTs: undefined } : {})
      const { sent, settlements } = await deliver(name, { mode: 'unsure', request, found })
      expect(sent).toEqual([])
      expect(settlements).toEqual([{ status: 'queued', retryInMs }])
    }
  })

  test('is sent again with a note if Slack allows no search, or fails for ten minutes', async () => {
    const refused = await deliver('ended', { mode: 'unsure', found: { is: 'cannot-search' } })
    const long = await deliver('ended', { mode: 'unsure', found: { is: 'unknown', problem: 'x' }, searchedForMs: 11 * 60_000 })
    expect([refused.sent, long.sent]).toEqual([['post to C0OPS00001, again'], ['post to C0OPS00001, again']])
  })
})

describe('a card that Slack refuses to update', () => {
  const refuse = (error: string, isOutdatedTold = false) => deliver('card', { updated: { is: 'refused', error }, isOutdatedTold })

  test.each(['message_not_found', 'channel_not_found', 'is_archived', 'is_inactive'])(
    'is settled without a word if it is gone: %s',
    async (error) => {
      const { settlements, undeliverable } = await refuse(error)
      expect(settlements).toEqual([{ status: 'settled', cardTs: requestFor().cardTs, shownRevision: 1 }])
      expect(undeliverable).toEqual([])
    },
  )

  test.each(['msg_too_long', 'edit_window_closed', 'cant_update_message', 'invalid_blocks', 'not_in_channel', 'a_new_code'])(
    'is told in its thread and to the operators once, and tried again only after the next step: %s',
    async (error) => {
      const [first, second] = [await refuse(error), await refuse(error, true)]
      for (const { settlements } of [first, second]) expect(settlements).toMatchObject([{ status: 'settled', owes: 'outdated' }])
      // It was posted, so nobody may discard the request.
      expect(first.delivered).toEqual({ is: 'sent' })
      expect([first.undeliverable, second.undeliverable]).toEqual([[`outdated: ${error}`], []])
    },
  )

  test('is tried again if another update may be taken: the token is being replaced', async () => {
    const { settlements, undeliverable } = await refuse('token_revoked')
    expect([settlements, undeliverable]).toEqual([[{ status: 'queued', retryInMs: 3_000 }], []])
  })
})

test('a card that may have been posted is searched for also after Slack refused the next try', async () => {
  const { redis, keys } = connectTestRedis()
  const request = requestFor({ cardTs: undefined })
  await redis.hset(keys.record(request.id), encodeFields(request))
  const sent: string[] = []
  const posts: Awaited<ReturnType<Messenger['post']>>[] = [
    { is: 'unknown', problem: 'no answer' },
    { is: 'refused', error: 'invalid_auth' },
  ]
  const searches: SearchResult[] = [{ is: 'cannot-search' }, { is: 'found', ts: '2.1' }]
  const messenger = {
    post: async () => {
      sent.push('post')
      return posts.shift() ?? { is: 'sent', ts: '3.1', channelId: 'C0OPS00001' }
    },
    find: async () => searches.shift(),
    update: async () => {
      sent.push('update')
      return { is: 'sent' }
    },
  } as unknown as Messenger
  const render = { canRender: () => true, card: () => message, asRepeat: () => message } as unknown as Renderer
  const deliverCard = createDeliver({ outbox: createOutbox({ redis, keys }), messenger, render, onUndeliverable: () => {} })

  const delivered = [await deliverCard(request.id, 'card'), await deliverCard(request.id, 'card'), await deliverCard(request.id, 'card')]

  expect(sent).toEqual(['post', 'post', 'update'])
  expect(delivered).toEqual([{ is: 'later' }, { is: 'refused', error: 'invalid_auth' }, { is: 'sent' }])
})
