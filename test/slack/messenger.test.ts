import type { WebClient } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { createMessenger } from '../../src/slack/web-api.ts'

/** A messenger for a Slack that limits each method in #ops for 30 s. */
function limited() {
  let now = 1_000_000
  const calls: string[] = []
  const call =
    (method: string) =>
    async ({ channel }: { channel: string }) => {
      calls.push(`${method} ${channel}`)
      if (channel === 'C0OPS' && now < 1_030_000)
        throw Object.assign(new Error('limited'), { code: 'slack_webapi_rate_limited_error', retryAfter: 30 })
      return { ok: true, ts: '1.1', channel }
    }
  const client = { chat: { postMessage: call('post'), update: call('update') } } as unknown as WebClient
  const messenger = createMessenger({ client, botUserId: () => 'U1', now: () => now })
  const pass = (ms: number) => {
    now += ms
  }
  return { messenger, calls, pass }
}

const message = { text: 'x', blocks: [] }

describe.each([
  ['posted', 'post', (messenger: ReturnType<typeof createMessenger>, channelId: string) => messenger.post({ channelId }, message)],
  [
    'updated',
    'update',
    (messenger: ReturnType<typeof createMessenger>, channelId: string) => messenger.update({ channelId, ts: '1.1' }, message),
  ],
] as const)('if Slack limits how many messages are %s in a channel', (_, method, send) => {
  test('no more are tried there until the wait is over, and other channels continue', async () => {
    const { messenger, calls, pass } = limited()
    expect(await send(messenger, 'C0OPS')).toEqual({ is: 'rate-limited', retryInMs: 30_000 })
    pass(10_000)
    expect(await send(messenger, 'C0OPS')).toEqual({ is: 'rate-limited', retryInMs: 20_000 })
    expect(await send(messenger, 'C0DEV')).toMatchObject({ is: 'sent' })
    pass(20_000)
    expect(await send(messenger, 'C0OPS')).toMatchObject({ is: 'sent' })
    expect(calls).toEqual([`${method} C0OPS`, `${method} C0DEV`, `${method} C0OPS`])
  })
})

test('a message is sent with the arguments that Slack documents for the method, and no others', async () => {
  const sent: Record<string, string[]> = {}
  const record = (method: string) => async (args: object) => {
    sent[method] = Object.keys(args).toSorted()
    return { ok: true, ts: '1.1', channel: 'C0OPS' }
  }
  const chat = { postMessage: record('post'), update: record('update'), postEphemeral: record('ephemeral') }
  const messenger = createMessenger({ client: { chat } as unknown as WebClient, botUserId: () => 'U1' })

  await messenger.post({ channelId: 'C0OPS', threadTs: '1.0', broadcast: true, key: 'r1/card' }, message)
  await messenger.update({ channelId: 'C0OPS', ts: '1.1', key: 'r1/card' }, message)
  await messenger.postEphemeral({ channelId: 'C0OPS', userId: 'U2' }, message)

  expect(sent).toEqual({
    post: ['blocks', 'channel', 'link_names', 'metadata', 'parse', 'reply_broadcast', 'text', 'thread_ts', 'unfurl_links', 'unfurl_media'],
    update: ['blocks', 'channel', 'link_names', 'metadata', 'parse', 'text', 'ts'],
    ephemeral: ['blocks', 'channel', 'link_names', 'parse', 'text', 'user'],
  })
})

describe('the search for a lost message', () => {
  const own = { ts: '7.1', user: 'U1', metadata: { event_payload: { key: 'r1/card' } } }
  const where = { channelId: 'C0OPS', key: 'r1/card', oldestMs: 60_900 }

  /** A channel whose history has these pages. */
  function channelWith(pages: object[][]) {
    const calls: { cursor?: string }[] = []
    const history = async (args: { cursor?: string }) => {
      calls.push(args)
      const page = Number(args.cursor ?? 0)
      const has_more = page + 1 < pages.length
      return { ok: true, messages: pages[page], has_more, response_metadata: { next_cursor: has_more ? String(page + 1) : '' } }
    }
    const client = { conversations: { history } } as unknown as WebClient
    return { messenger: createMessenger({ client, botUserId: () => 'U1' }), calls }
  }

  test('covers the time when it may have been posted, rounded out to whole seconds', async () => {
    const { messenger, calls } = channelWith([[own]])
    expect(await messenger.find({ ...where, latestMs: 120_100 })).toEqual({ is: 'found', ts: '7.1' })
    expect(await messenger.find(where)).toEqual({ is: 'found', ts: '7.1' })
    expect(calls).toMatchObject([{ oldest: '60', latest: '121' }, { oldest: '60' }])
    expect(calls[1]).not.toHaveProperty('latest')
  })

  test('reads five pages, and never reports the message as absent if there are more', async () => {
    const [four, five] = [Array.from({ length: 4 }, () => [{ ts: '1.1', user: 'U2' }]), Array.from({ length: 5 }, () => [])]
    expect(await channelWith([...four, [own]]).messenger.find(where)).toEqual({ is: 'found', ts: '7.1' })
    expect(await channelWith(four).messenger.find(where)).toEqual({ is: 'absent' })
    const tooMany = channelWith([...five, [own]])
    expect(await tooMany.messenger.find(where)).toEqual({ is: 'cannot-search' })
    expect(tooMany.calls).toHaveLength(5)
  })

  test('finds only messages of the bot itself', async () => {
    expect(await channelWith([[{ ...own, user: 'U2' }]]).messenger.find(where)).toEqual({ is: 'absent' })
  })
})

test('a lost message is not searched for before the identity is known, because no message would match', async () => {
  const calls: unknown[] = []
  const history = async (args: unknown) => {
    calls.push(args)
    return { ok: true, messages: [{ ts: '1.1', user: 'U1', metadata: { event_payload: { key: 'k' } } }] }
  }
  const client = { conversations: { history } } as unknown as WebClient
  let self: string | undefined
  const messenger = createMessenger({ client, botUserId: () => self })

  expect(await messenger.find({ channelId: 'C0OPS', key: 'k', oldestMs: 0 })).toMatchObject({ is: 'unknown' })
  expect(calls).toEqual([])
  self = 'U1'
  expect(await messenger.find({ channelId: 'C0OPS', key: 'k', oldestMs: 0 })).toEqual({ is: 'found', ts: '1.1' })
})
