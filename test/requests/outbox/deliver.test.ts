import { describe, expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { createDeliver, type Renderer } from '../../../src/requests/outbox/deliver.ts'
import { createOutbox, type Lease, type Outbox, type Settlement } from '../../../src/requests/outbox/outbox.ts'
import { encodeFields } from '../../../src/requests/store/record.ts'
import type { OutboxName } from '../../../src/requests/store/store.ts'
import type { SearchResult } from '../../../src/slack/web-api/find-message.ts'
import type { Messenger } from '../../../src/slack/web-api/messenger.ts'
import { connectTestRedis } from '../redis-for-test.ts'
import { requestFor } from '../request-for-test.ts'

const message = { text: 'Done.', blocks: [] }

interface Case {
  mode?: Lease['mode']
  request?: Request
  /** How long the lease may still be sent under, in ms. */
  leftMs?: number
  /** How long each look for a lost message takes, in ms. */
  lookMs?: number
  /** What a look for a lost message gives. */
  found?: SearchResult
  /** How long it has been looked for, in ms. */
  lookedForMs?: number
  triedUntilMs?: number
  triedCardless?: boolean
  /** What Slack says of a post to the channel. */
  posted?: Awaited<ReturnType<Messenger['post']>>
}

/** Sends one message under a lease, and tells what went to Slack and what was settled. */
async function deliver(
  name: OutboxName,
  {
    mode = 'fresh',
    request = requestFor(),
    leftMs = 5_000,
    lookMs = 0,
    found = { is: 'absent' },
    lookedForMs = 0,
    triedUntilMs,
    triedCardless = false,
    posted = { is: 'sent', ts: '2.1', channelId: 'C0OPS00001' },
  }: Case,
) {
  const sent: string[] = []
  const settlements: Settlement[] = []
  const looks: object[] = []
  const outbox = {
    lease: async () => ({
      lease: { token: 't', mode, lookedForMs, triedUntilMs, triedCardless, sendBefore: performance.now() + leftMs },
      request,
    }),
    settle: async (_id: string, _name: OutboxName, _held: unknown, settlement: Settlement) => {
      settlements.push(settlement)
      return settlement.status === 'settled' ? 'settled' : 'later'
    },
  } as unknown as Outbox
  const messenger = {
    post: async ({ channelId }: { channelId: string }, { text }: { text: string }) => {
      sent.push(`post to ${channelId}${text === 'again' ? ', again' : ''}`)
      return channelId.startsWith('U') ? { is: 'sent', ts: '3.1', channelId } : posted
    },
    update: async () => {
      sent.push('update')
      return { is: 'sent' }
    },
    find: async (where: object) => {
      looks.push(where)
      await new Promise((resolve) => setTimeout(resolve, lookMs))
      return found
    },
  } as unknown as Messenger
  const render = {
    knows: () => true,
    card: () => message,
    report: () => message,
    asRepeat: () => ({ ...message, text: 'again' }),
    asDirect: () => message,
  } as Renderer
  const onUndeliverable = () => {}
  const delivered = await createDeliver({ outbox, messenger, render, onUndeliverable })(request.id, name)
  return { delivered, sent, settlements, looks }
}

describe('under a lease that holds', () => {
  test.each([
    ['a card is posted', 'card', { request: requestFor({ cardTs: undefined }) }, ['post to C0OPS00001']],
    ['a card is updated', 'card', {}, ['update']],
    ['a report is posted', 'ended', {}, ['post to C0OPS00001']],
    ['a report is posted that was looked for', 'ended', { mode: 'unsure' }, ['post to C0OPS00001']],
    [
      'a report that its channel refuses goes to the person',
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

describe('a process that stood still until its lease may be another’s', () => {
  test.each([
    ['posts no card', 'card', { request: requestFor({ cardTs: undefined }) }],
    ['does not show an old card', 'card', {}],
    ['posts no report', 'ended', {}],
  ] as const)('%s, and knows that it sent nothing', async (_, name, of) => {
    const { delivered, sent, settlements } = await deliver(name, { ...of, leftMs: -1 })
    expect(sent).toEqual([])
    expect(delivered).toEqual({ is: 'later' })
    expect(settlements).toEqual([{ status: 'queued', retryInMs: 0 }])
  })

  test('and looked long for what was lost sends nothing, either', async () => {
    const { sent, settlements } = await deliver('ended', { mode: 'unsure', leftMs: 20, lookMs: 60 })
    expect(sent).toEqual([])
    expect(settlements).toEqual([{ status: 'queued', retryInMs: 0 }])
  })
})

describe('a message that may have been sent', () => {
  test('is looked for until ten minutes after it was tried last, whatever was said since', async () => {
    const request = requestFor({ cardTs: undefined, createdAt: 1_000_000 })
    const known = await deliver('card', { mode: 'unsure', request, triedUntilMs: 5_000_000 })
    const unknown = await deliver('card', { mode: 'unsure', request })
    const place = { channelId: 'C0OPS00001', key: `${request.id}/card`, oldestMs: 940_000 }
    expect(known.looks).toEqual([{ ...place, latestMs: 5_600_000 }])
    expect(unknown.looks).toEqual([place])
  })

  test('before its card was there is looked for in the channel, too', async () => {
    const below = await deliver('ended', { mode: 'unsure' })
    const early = await deliver('ended', { mode: 'unsure', triedCardless: true })
    const isBelow = { threadTs: requestFor().cardTs }
    expect(below.looks).toMatchObject([isBelow])
    expect(early.looks).toMatchObject([isBelow, { channelId: 'C0OPS00001' }])
    expect(early.looks[1]).not.toHaveProperty('threadTs')
  })

  test.each([
    ['while Slack fails', { is: 'unknown', problem: 'HTTP status 503' }, 3_000],
    ['while Slack limits the looking', { is: 'rate-limited', retryInMs: 20_000 }, 20_000],
  ] as const)('is not sent again %s, but looked for later', async (_, found, retryInMs) => {
    for (const name of ['card', 'ended'] as const) {
      const request = requestFor(name === 'card' ? { cardTs: undefined } : {})
      const { sent, settlements } = await deliver(name, { mode: 'unsure', request, found })
      expect(sent).toEqual([])
      expect(settlements).toEqual([{ status: 'queued', retryInMs }])
    }
  })

  test('is repeated, and says so, where Slack does not let the bot look, and after ten minutes of trouble', async () => {
    const refused = await deliver('ended', { mode: 'unsure', found: { is: 'cannot-search' } })
    const long = await deliver('ended', { mode: 'unsure', found: { is: 'unknown', problem: 'x' }, lookedForMs: 11 * 60_000 })
    expect([refused.sent, long.sent]).toEqual([['post to C0OPS00001, again'], ['post to C0OPS00001, again']])
  })
})

test('a card that may have been posted is looked for also after Slack has refused the next try', async () => {
  const { redis, keys } = connectTestRedis()
  const request = requestFor({ cardTs: undefined })
  await redis.hset(keys.record(request.id), encodeFields(request))
  const sent: string[] = []
  const posts: Awaited<ReturnType<Messenger['post']>>[] = [
    { is: 'unknown', problem: 'no answer' },
    { is: 'refused', error: 'invalid_auth' },
  ]
  const looks: SearchResult[] = [{ is: 'cannot-search' }, { is: 'found', ts: '2.1' }]
  const messenger = {
    post: async () => {
      sent.push('post')
      return posts.shift() ?? { is: 'sent', ts: '3.1', channelId: 'C0OPS00001' }
    },
    find: async () => looks.shift(),
    update: async () => {
      sent.push('update')
      return { is: 'sent' }
    },
  } as unknown as Messenger
  const render = { knows: () => true, card: () => message, asRepeat: () => message } as unknown as Renderer
  const deliverCard = createDeliver({ outbox: createOutbox({ redis, keys }), messenger, render, onUndeliverable: () => {} })

  const delivered = [await deliverCard(request.id, 'card'), await deliverCard(request.id, 'card'), await deliverCard(request.id, 'card')]

  expect(sent).toEqual(['post', 'post', 'update'])
  expect(delivered).toEqual([{ is: 'later' }, { is: 'refused', error: 'invalid_auth' }, { is: 'sent' }])
})
