import type { KnownBlock } from '@slack/web-api'
import { expect, test } from 'vitest'
import type { Request } from '../../../src/domain/request.ts'
import { createHome } from '../../../src/requests/interactions/home.ts'
import { readableBlocks } from '../readable.ts'
import { askedAt, description, minutes, requestFor, ruleFor } from '../request-for-test.ts'

const ben = 'U0BEN00001'
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: ben, command: '/infra' }

/** What Ben sees. `seen`: as they stood when they were listed; `read`: as they stood a moment later. */
async function homeOf({ seen, read = seen, ended = [] }: { seen: Request[]; read?: Request[]; ended?: Request[] }): Promise<KnownBlock[]> {
  const pages: KnownBlock[][] = []
  const home = createHome({
    store: {
      open: async () => seen,
      ended: async (limit, fits) => ended.filter(fits).slice(0, limit),
      findMany: async (ids) => read.filter(({ id }) => ids.includes(id)),
      now: async () => askedAt + 30 * minutes,
    },
    access: { judge: async () => ({ allowed: true, grant: { rule: 'APPROVERS', via: 'S0ONCALL01' } }) },
    messenger: {
      publishHome: async (_, blocks) => {
        pages.push(blocks)
        return { is: 'sent' }
      },
    },
    view: (request) => ({
      request,
      isKnown: true,
      description,
      unchecked: [],
      warnings: [],
      ending: { why: '' },
      handoverLabel: undefined,
      reverseLabel: undefined,
      rule: ruleFor(),
      environment: undefined,
    }),
    linkTo: () => undefined,
    onError: (error) => {
      throw error
    },
  })
  await home.show(origin, undefined)
  const [page] = pages
  if (!page) throw new Error('nothing was shown')
  return page
}

test('what is decided or ends while the page is made stands where it belongs, and once', async () => {
  const mine = { id: 'mine', origin, state: 'tracking' as const, sentAt: askedAt }
  const mineEnded = requestFor({ ...mine, state: 'done', endedAt: askedAt + minutes })
  const theirs = requestFor({ id: 'theirs' })
  const decided = requestFor({ id: 'theirs', state: 'approved', decidedAt: askedAt + minutes })

  const blocks = await homeOf({ seen: [requestFor(mine), theirs], read: [mineEnded, decided], ended: [mineEnded] })

  const ids = blocks.flatMap((block) => ('block_id' in block && block.block_id ? [block.block_id] : []))
  expect(new Set(ids).size).toBe(ids.length)
  expect(readableBlocks(blocks).match(/^# .*$/gm)).toEqual(['# Waits for you (0)', '# You asked for (1)', '# Moving now (0)'])
})

test('of very many that wait it is said that not all were looked at', async () => {
  const words = readableBlocks(await homeOf({ seen: Array.from({ length: 612 }, (_, index) => requestFor({ id: `waiting-${index}` })) }))

  expect(words).toContain('# Waits for you (at least 500)')
  expect(words).toContain('112 more wait for somebody.')
})
