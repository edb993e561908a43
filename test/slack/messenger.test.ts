import type { WebClient } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { createMessenger } from '../../src/slack/messenger.ts'

/** A messenger whose Slack limits each method in #ops for 30 s at the first call there. */
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
] as const)('where Slack limits what is %s', (_, method, send) => {
  test('one channel is left alone for as long as it says, and others go on', async () => {
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
