import { describe, expect, test } from 'vitest'
import { alertsRequester } from '../../../src/domain/approval.ts'
import { createDiscardUnposted } from '../../../src/requests/reconcile.ts'
import type { Posted } from '../../../src/slack/web-api.ts'
import { requestFor } from '../request-for-test.ts'

/** Discards a request whose card is refused. The direct message to its requester has this outcome. */
async function discardAfter(posted: Posted, request = requestFor({ id: 'a' })) {
  const discarded: unknown[] = []
  const channels: string[] = []
  const undeliverable: string[] = []
  const discardUnposted = createDiscardUnposted({
    store: { discard: async ({ id }, cause) => void discarded.push([id, cause]) },
    messenger: {
      post: async ({ channelId }) => {
        channels.push(channelId)
        return posted
      },
    },
    onUndeliverable: (_, error) => void undeliverable.push(error),
  })
  await discardUnposted(request, 'is_archived')
  return { discarded, channels, undeliverable, requester: request.origin.userId }
}

describe('a request whose card Slack refuses', () => {
  test('is discarded after a direct message to its requester', async () => {
    const { discarded, channels, requester } = await discardAfter({ is: 'sent', ts: '1.1', channelId: 'D1' })
    expect(channels).toEqual([requester])
    expect(discarded).toEqual([['a', { code: 'not-posted', error: 'is_archived' }]])
  })

  test('is discarded after a notice to the operators if a machine requested it', async () => {
    const origin = { ...requestFor({}).origin, userId: alertsRequester }
    const { discarded, channels, undeliverable } = await discardAfter(
      { is: 'sent', ts: '1.1', channelId: 'D1' },
      requestFor({ id: 'a', origin }),
    )
    expect({ channels, undeliverable }).toEqual({ channels: [], undeliverable: ['is_archived'] })
    expect(discarded).toHaveLength(1)
  })

  test('is discarded if the requester takes no direct message', async () => {
    const { discarded } = await discardAfter({ is: 'refused', error: 'messages_tab_disabled' })
    expect(discarded).toHaveLength(1)
  })

  test.each<Posted>([
    { is: 'unknown', problem: 'no answer' },
    { is: 'rate-limited', retryInMs: 1_000 },
  ])('stays if the direct message may not have been sent ($is)', async (posted) => {
    const { discarded } = await discardAfter(posted)
    expect(discarded).toEqual([])
  })
})
