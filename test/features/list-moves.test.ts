import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/domain/change/change.ts'
import type { Request } from '../../src/domain/request/request.ts'
import { type ItemState, RequestItem } from '../../src/domain/request/request-item.ts'
import { listMoves } from '../../src/features/list-moves/index.ts'
import { type Catalog, createCatalog } from '../../src/requests/catalog.ts'
import { description, minutes, requestedAt, requestFor } from '../requests/request-for-test.ts'
import { listingOf } from './listing-of.ts'

const now = requestedAt + 240 * minutes

function move(id: string, more: Partial<Request> = {}): Request {
  return requestFor({ id, ...more })
}

function many(count: number, more: Partial<Request>): Request[] {
  return Array.from({ length: count }, (_, index) => move(`${more.state}-${index}`, more))
}

/** Opens every request. */
const catalog = createCatalog([
  { kind: 'ip.move', takesTime: true, facts: anything(), input: anything(), describe: () => description } as unknown as Change,
]) satisfies Catalog

function anything() {
  return { parse: (value: unknown) => value }
}

async function run(open: Request[], ended: Request[] = []) {
  const { commands } = listMoves.create({
    store: {
      open: async () => open,
      ended: async (limit, fits) => ended.filter(fits).slice(0, limit),
      countEnded: async (fits) => ended.filter(fits).length,
      findMany: async (ids) => open.filter(({ id, version }) => ids.includes(id) && version === requestFor().version),
      now: async () => now,
    },
    catalog,
    linkTo: () => 'https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100',
  })
  const listing = await listingOf(commands[0])
  return { title: listing.title.text, rows: listing.rows.map(({ text }) => text), notes: listing.notes?.map(({ text }) => text) }
}

describe('/infra moves', () => {
  test('counts every move, and says which ones are listed if there are too many', async () => {
    const { title, rows, notes } = await run([...many(612, { state: 'tracking', sentAt: requestedAt }), ...many(501, { state: 'waiting' })])

    expect(title).toBe('Moves: 612 in progress, 501 waiting for approval, 0 ended in the last 30 days')
    expect(rows).toHaveLength(1_000)
    expect(notes).toEqual([
      '112 more are in progress. Only the longest are shown.',
      '1 more waits for approval. Only the oldest are shown.',
    ])
  })

  test('counts the moves that another version of Lockkeeper wrote and this one cannot read', async () => {
    const { rows, notes } = await run([move('known', { state: 'tracking' }), move('unknown', { version: 99, state: 'tracking' })])

    expect(rows).toHaveLength(1)
    expect(notes).toEqual([":warning: 1 request isn't listed: written by another version of Lockkeeper."])
  })

  test('shows the state of each move, and for how long', async () => {
    const { rows } = await run([
      move('tracking', { state: 'tracking', decidedAt: now - 3 * minutes, sentAt: now - 2 * minutes, lateAt: now - minutes }),
      move('starting', { state: 'starting', decidedAt: now - minutes, sentAt: now - 3_000 }),
      move('approved', { state: 'approved', decidedAt: now - minutes }),
      move('waiting'),
    ])

    expect(rows.map((row) => row.split('\n')[1])).toMatchInlineSnapshot(`
      [
        "moving, late  ·  for 2 min  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "starting  ·  for 3 s  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "approved, not sent yet  ·  for 1 min  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "waiting for approval  ·  until <!date^1795024800^{date_short_pretty} at {time}|2026-11-18 18:00 UTC>  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
      ]
    `)
  })

  test('counts the addresses of an evacuation', async () => {
    const items = (...states: ItemState[]) => states.map((state, index) => RequestItem.parse({ id: `eip_${index}`, state }))
    const ended = { sentAt: requestedAt, endedAt: requestedAt }
    const { rows } = await run(
      [move('moving', { state: 'tracking', sentAt: now - 5_000, items: items('done', 'tracking', 'waiting') })],
      [
        move('done', { state: 'done', ...ended, items: items('done', 'done') }),
        move('partly', { state: 'failed', ...ended, items: items('done', 'failed', 'superseded') }),
        move('failed', { state: 'failed', ...ended, items: items('failed', 'not-started') }),
      ],
    )

    expect(rows.map((row) => [row.split(' ')[0], row.split('\n')[1]?.split('  ·')[0]])).toEqual([
      [':arrows_counterclockwise:', 'moving, 1 of 3 moved'],
      [':large_green_circle:', 'done'],
      [':large_orange_circle:', 'partly done, 1 of 3 moved'],
      [':red_circle:', 'failed, 0 of 2 moved'],
    ])
  })

  test('shows the ten moves that ended last, although other requests have ended since', async () => {
    const renames = many(300, { kind: 'vm.rename', state: 'done', sentAt: requestedAt, endedAt: requestedAt })
    const moves = many(12, { state: 'failed', sentAt: requestedAt, endedAt: requestedAt })

    const { title, rows, notes } = await run([], [...renames, ...moves])

    expect(title).toBe('Moves: 0 in progress, 0 waiting for approval, 12 ended in the last 30 days')
    expect(rows).toHaveLength(10)
    expect(notes).toEqual(['2 more ended earlier. See `audit`.'])
  })
})
