import { expect, test } from 'vitest'
import { reviewKeys } from '../../../src/features/keys/review.ts'
import { accountWithOthers, apiKey, minute, ops } from '../outside/outside-world.ts'

const day = 24 * 60 * minute
const created = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()

const old = apiKey('ak_old', 'ci-deploy [U0ADA00001 abcdef012345]', {
  createdAt: created(400 * day),
  tokenLastSlice: 'x7Qz1',
  readOnly: false,
  allowedIps: [],
})
const own = apiKey('ak_own', 'lockkeeper', { createdAt: created(400 * day), tokenLastSlice: 'aaaaa', lastUsedAt: created(0) })
const fine = apiKey('ak_fine', 'laptop', { createdAt: created(2 * day), lastUsedAt: created(day), readOnly: true })

/** From now to the next Monday, 06:00 UTC. */
function untilMonday(now: number): number {
  const date = new Date(now)
  const monday = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + ((8 - date.getUTCDay()) % 7), 6)
  return (monday > now ? monday : monday + 7 * day) - now
}

function startReview(keys = [fine, old, own]) {
  const account = accountWithOthers()
  account.lists.apiKeys = keys
  const runs = [account, account.startProcess()].map(
    ({ app }) =>
      (signal: AbortSignal) =>
        reviewKeys.repeated?.(app, {} as never)[0]?.run(app, signal),
  )
  const messages: unknown[][] = []
  const posts = account.app.slack.messenger
  const post = posts.post.bind(posts)
  Object.assign(posts, {
    post(...[place, message]: Parameters<typeof post>) {
      messages.push(message.blocks)
      return post(place, message)
    },
  })
  const review = async (process = 0) => {
    await runs[process]?.(new AbortController().signal)
    await account.sweep()
  }
  return { ...account, review, messages, both: () => Promise.all([review(0), review(1), review(0)]) }
}

test("every Monday the operators get the keys that need attention, once, each with a button but Lockkeeper's own", async () => {
  const { review, both, world, texts, calls, messages, store } = startReview()
  await review()
  expect([texts, world.reads]).toEqual([[], []])

  world.aheadMs += untilMonday(await store.now()) - minute
  await review()
  expect(texts).toEqual([])
  world.aheadMs += 2 * minute
  await both()
  await review()
  expect(calls).toEqual([`post to ${ops}`])
  expect(texts).toEqual([
    ':key: *Weekly review: 2 API keys need attention.*\nci-deploy (token ends in `x7Qz1`): no use shown, 1 year old, full access from any IP\nlockkeeper (token ends in `aaaaa`): 1 year old (used by Lockkeeper)\nAll keys: `/infra keys`',
  ])
  const buttons = JSON.stringify(messages[0]).match(/"action_id":"[^"]*","value":"(?:[^"\\]|\\.)*"/g)
  expect(buttons).toEqual([
    '"action_id":"item:api-key:key.revoke","value":"{\\"version\\":1,\\"id\\":\\"ak_old\\",\\"text\\":\\"ci-deploy (…x7Qz1)\\"}"',
  ])

  // Nobody was there on the next Monday.
  world.aheadMs += 9 * day
  await both()
  expect(texts).toHaveLength(2)
})

test('a list that cannot be read is read again, and without a key that needs attention there is no message', async () => {
  const { review, world, texts, store, lists } = startReview()
  await review()
  world.aheadMs += untilMonday(await store.now()) + minute
  world.missing = { old: { agoMs: 20_000 } }
  await review()
  world.missing = {}
  world.failing.add('apiKeys')
  await expect(review()).rejects.toThrow("can't be read")
  world.failing.clear()
  expect(texts).toEqual([])
  await review()
  expect(texts).toHaveLength(1)

  lists.apiKeys = [fine]
  world.aheadMs += 7 * day
  await review()
  await review()
  expect([texts.length, world.reads.length]).toEqual([1, 4])
})
