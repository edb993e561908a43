import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/domain/change.ts'
import type { ItemState, Request } from '../../src/domain/request.ts'
import { listMoves } from '../../src/features/moves.ts'
import { type Catalog, createCatalog } from '../../src/requests/catalog.ts'
import { fakeApp } from '../fake-app.ts'
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
  const { commands } = listMoves.create(
    fakeApp({
      store: {
        findOpen: async () => {
          const requests = open.filter(({ version }) => version === requestFor().version)
          return { requests, unreadable: open.length - requests.length }
        },
        ended: async (limit: number, fits: (request: Request) => boolean) => ended.filter(fits).slice(0, limit),
        now: async () => now,
      },
      catalog,
      slack: { identity: { linkTo: () => 'https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100' } },
    }),
  )
  const listing = await listingOf(commands[0])
  return {
    table: listing.table,
    title: listing.title.text,
    rows: listing.rows.map(({ text }) => text),
    notes: listing.notes?.map(({ text }) => text),
  }
}

describe('/infra moves', () => {
  test('counts every move, and says which ones are listed if there are too many', async () => {
    const { title, rows, notes } = await run([...many(612, { state: 'tracking', sentAt: requestedAt }), ...many(501, { state: 'waiting' })])

    expect(title).toBe('Moves: 612 in progress, 501 waiting for approval, 0 ended lately')
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
      move('unseen', { state: 'tracking', sentAt: now - minutes, unansweredSince: now - 30_000 }),
      move('approved', { state: 'approved', decidedAt: now - minutes }),
      move('waiting'),
    ])

    expect(rows.map((row) => row.split('\n')[1])).toMatchInlineSnapshot(`
      [
        "moving, late  ·  2 min so far  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "starting  ·  3 s so far  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "status unknown: the account API doesn't answer  ·  1 min so far  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "approved, not sent yet  ·  1 min so far  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
        "waiting for approval until <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>",
      ]
    `)
  })

  test('has a table with durations that Slack sorts, and with the approvers', async () => {
    const ended = { sentAt: requestedAt, endedAt: requestedAt + 43_000, decidedAt: requestedAt }
    const grant = { rule: 'production', via: 'S0ONCALL01' }
    const by = (...people: string[]) => people.map((id) => ({ ...grant, by: id, at: requestedAt }))
    const one = { approvals: by('U0BEN00001'), decision: { ...grant, by: 'U0BEN00001' } }
    const { table } = await run(
      [
        move('tracking', { state: 'tracking', sentAt: now - 2 * minutes, ...one }),
        move('approved', { state: 'approved', decidedAt: now - minutes, ...one }),
        move('half', { approvals: by('U0BEN00001') }),
        move('waiting'),
      ],
      [
        move('done', { state: 'done', ...ended, approvals: by('U0BEN00001', 'U0CHI00001'), decision: { ...grant, by: 'U0CHI00001' } }),
        move('paused', { state: 'failed', ...ended, untrackedMs: minutes, ...one }),
        move('emergency', { state: 'done', ...ended, decision: { ...grant, by: 'U0ADA00001', breakGlass: true, reason: 'fire' } }),
        move('exempt', { state: 'done', ...ended, needsApproval: false, decision: grant }),
        move('rejected', { state: 'rejected', endedAt: now, decision: { ...grant, by: 'U0BEN00001' } }),
        move('withdrawn', { state: 'withdrawn', endedAt: now }),
        move('unverified', { state: 'untracked', ...ended }),
      ],
    )

    expect(table?.headers).toEqual(['Move', 'State', 'Time', 'Ended', 'Approved by', 'Requested by', 'Channel'])
    const approvedBy = table?.rows.map((row) => [row[2], row[4] === undefined ? undefined : String(row[4])])
    expect(approvedBy).toEqual([
      [{ value: 2 * minutes, words: expect.stringMatching(/^2\smin so far$/) }, '<@U0BEN00001>'],
      [{ value: minutes, words: expect.stringMatching(/^1\smin so far$/) }, '<@U0BEN00001>'],
      [undefined, '<@U0BEN00001>'],
      [undefined, undefined],
      [{ value: 43_000, words: expect.stringMatching(/^43\ss$/) }, '<@U0BEN00001>, <@U0CHI00001>'],
      [{ value: 43_000, words: expect.stringMatching(/^at most 43\ss$/) }, '<@U0BEN00001>'],
      [{ value: 43_000, words: expect.anything() }, '<@U0ADA00001> alone (emergency approval)'],
      [{ value: 43_000, words: expect.anything() }, undefined],
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ])
  })

  test('counts the addresses of an evacuation', async () => {
    const items = (...states: ItemState[]) => states.map((state, index) => ({ id: `eip_${index}`, state, causes: [] }))
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

  test('shows the moves that ended last, and where earlier ones are', async () => {
    const { title, rows, notes } = await run([], many(12, { state: 'failed', sentAt: requestedAt, endedAt: requestedAt }))

    expect(title).toBe('Moves: 0 in progress, 0 waiting for approval, 10 ended lately')
    expect(rows).toHaveLength(10)
    expect(notes).toEqual(['For moves that ended earlier, see `audit`.'])
  })
})
