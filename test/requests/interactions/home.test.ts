import type { KnownBlock } from '@slack/web-api'
import { expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request/request.ts'
import { createHome } from '../../../src/requests/interactions/home.ts'
import { cardViewFor } from '../messages/card-view-for-test.ts'
import { readableBlocks } from '../readable.ts'
import { minutes, requestedAt, requestFor } from '../request-for-test.ts'

const ben = 'U0BEN00001'
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: ben, command: '/infra' }

/** The Home tab of Ben. `listed`: the requests as listed. `read`: the same requests as read a moment later. */
async function homeOf({
  listed,
  read = listed,
  ended = [],
}: {
  listed: Request[]
  read?: Request[]
  ended?: Request[]
}): Promise<KnownBlock[]> {
  const pages: KnownBlock[][] = []
  const home = createHome({
    store: {
      open: async () => listed,
      ended: async (limit, fits) => ended.filter(fits).slice(0, limit),
      countEnded: async (fits) => ended.filter(fits).length,
      findMany: async (ids) => read.filter(({ id }) => ids.includes(id)),
      now: async () => requestedAt + 30 * minutes,
      orderOnHome: async (_, ids) => ids,
    },
    access: { judge: async () => ({ allowed: true, grant: { rule: 'APPROVERS', via: 'S0ONCALL01' } }) },
    messenger: {
      publishHome: async (_, blocks) => {
        pages.push(blocks)
        return { is: 'sent' }
      },
    },
    buttons: () => [],
    view: (request) => cardViewFor({ request }),
    linkTo: () => undefined,
    onError: (error) => {
      throw error
    },
  })
  await home.open(origin, undefined)
  const [page] = pages
  if (!page) throw new Error('nothing was shown')
  return page
}

test('a request that is decided or ends during the reads is shown once, in the right part', async () => {
  const mine = { id: 'mine', origin, state: 'tracking' as const, sentAt: requestedAt }
  const mineEnded = requestFor({ ...mine, state: 'done', endedAt: requestedAt + minutes })
  const theirs = requestFor({ id: 'theirs' })
  const decided = requestFor({ id: 'theirs', state: 'approved', decidedAt: requestedAt + minutes })

  const blocks = await homeOf({ listed: [requestFor(mine), theirs], read: [mineEnded, decided], ended: [mineEnded] })

  const ids = blocks.flatMap((block) => ('block_id' in block && block.block_id ? [block.block_id] : []))
  expect(new Set(ids).size).toBe(ids.length)
  expect(readableBlocks(blocks).match(/^# .*$/gm)).toEqual(['# Your requests (1)'])
})

test('a Home tab with more than 500 waiting requests says that not all were checked', async () => {
  const words = readableBlocks(await homeOf({ listed: Array.from({ length: 612 }, (_, index) => requestFor({ id: `waiting-${index}` })) }))

  expect(words).toContain('# Needs your approval (at least 500)')
  expect(words).toContain('112 more need approval.')
})

test('a Home tab counts the ended requests that it does not show, and those that cannot be read', async () => {
  const own = (id: string) => requestFor({ id, origin, state: 'done', sentAt: requestedAt, endedAt: requestedAt + minutes })
  const ended = Array.from({ length: 25 }, (_, index) => own(`ended-${index}`))
  const listed = [requestFor({ id: 'written by another version', origin })]

  const words = readableBlocks(await homeOf({ listed, read: [], ended }))

  expect(words).toContain('# Your requests (25)')
  expect(words).toMatch(/\d+ more aren't shown\. See \*pending\*, \*moves\* and \*audit me\*\./)
  expect(words).toContain("1 request isn't listed: written by another version of Lockkeeper.")
})
