import { describe, expect, test } from 'vitest'
import type { Ruling } from '../../src/domain/approval.ts'
import type { Request } from '../../src/domain/request.ts'
import { listPending, type Pending, pendingListing } from '../../src/features/pending.ts'
import type { Listing } from '../../src/slack/listing.ts'
import { fakeApp } from '../fake-app.ts'
import { minutes, requestedAt, requestFor } from '../requests/request-for-test.ts'
import { listingOf } from './listing-of.ts'

const allowed: Ruling = { allowed: true, grant: { rule: 'APPROVERS', via: 'S0ONCALL01' } }
const denied: Ruling = { allowed: false, denial: { code: 'own-request' } }

function pending(more: Partial<Pending> = {}): Pending {
  return {
    request: requestFor(),
    title: 'Move 203.0.113.10: web-1 → web-2',
    isMine: false,
    canDecide: false,
    missing: 1,
    needed: 1,
    link: 'https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100',
    ...more,
  }
}

const wordsOf = ({ title, rows, empty }: Listing) => [title, ...rows, empty].map(({ text }) => text).join('\n\n')

describe('the list of waiting requests', () => {
  test('shows the requester, the channel, the deadline and the approvals of each', () => {
    const listing = pendingListing([
      pending({ isMine: true }),
      pending({ canDecide: true, request: requestFor({ reason: 'web-1 is <being> replaced' }), missing: 1, needed: 3 }),
      pending({ link: undefined }),
    ])

    expect(wordsOf(listing)).toMatchInlineSnapshot(`
      "3 requests need approval. You can approve 1.

      :point_right: *<https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Move 203.0.113.10: web-1 → web-2>*
      you can approve it  ·  until <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>  ·  2 of 3 approvals
      Reason: \`web-1 is &lt;being&gt; replaced\`

      :hourglass_flowing_sand: *<https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Move 203.0.113.10: web-1 → web-2>*
      until <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>  ·  requested by you  ·  in <#C0OPS00001>

      :hourglass_flowing_sand: *Move 203.0.113.10: web-1 → web-2*
      until <!date^1795024800^{time} {date_short_pretty}|2026-11-18 18:00 UTC>  ·  requested by <@U0ADA00001>  ·  in <#C0OPS00001>

      No requests need approval."
    `)
  })

  test('starts with the request, which links its message, and whether the viewer can approve it, because a phone shows no more', () => {
    const { table } = pendingListing([pending()])

    expect(table?.headers.slice(0, 2)).toEqual(['Request', 'For you'])
    expect(String(table?.rows[0]?.[0])).toBe(
      '<https://nimbus-works.slack.com/archives/C0OPS00001/p1795010400000100|Move 203.0.113.10: web-1 → web-2>',
    )
  })

  test('is sorted by deadline, with the requests that the viewer can decide first', () => {
    const until = (minute: number, canDecide: boolean) =>
      pending({ canDecide, title: `until ${minute}`, request: requestFor({ expiresAt: requestedAt + minute * minutes }) })

    const { rows, title } = pendingListing([until(30, false), until(20, true), until(10, false), until(40, true)])

    expect(rows.map(({ text }) => /until \d+/.exec(text)?.[0])).toEqual(['until 20', 'until 40', 'until 10', 'until 30'])
    expect(title.text).toBe('4 requests need approval. You can approve 2.')
  })
})

describe('/infra pending', () => {
  async function run(open: Request[], ruling: Ruling = allowed) {
    const judged: unknown[] = []
    const { commands } = listPending.create(
      fakeApp({
        store: {
          findOpen: async () => {
            const requests = open.filter(({ version }) => version === requestFor().version)
            return { requests, unreadable: open.length - requests.length }
          },
        },
        access: {
          judge: async ({ userId }, act) => {
            judged.push([userId, act.to])
            return ruling
          },
          tally: async (_, userIds) => ({ enough: false, missing: 3 - userIds.length, needed: 3 }),
        },
        catalog: { titleOf: ({ resource }) => [resource] },
        slack: { identity: { linkTo: () => undefined } },
      }),
    )
    const listing = await listingOf(commands[0])
    return { listing, judged, rows: listing.rows.map(({ text }) => text) }
  }

  test('shows requests that wait for an approval, and no others', async () => {
    const { rows } = await run([
      requestFor({ id: 'a', resource: 'waits' }),
      requestFor({ id: 'b', resource: 'needs none', needsApproval: false }),
      requestFor({ id: 'c', resource: 'is approved', state: 'approved' }),
      requestFor({ id: 'd', resource: 'moves', state: 'tracking' }),
    ])

    expect(rows).toHaveLength(1)
    expect(rows[0]).toContain('*waits*')
  })

  test('judges for each request whether the viewer may decide it', async () => {
    const { rows, judged } = await run([requestFor()], denied)

    expect(judged).toEqual([['U0BEN00001', 'decide']])
    expect(rows[0]).not.toContain('you can approve it')
  })

  test('does not mark a request that the viewer has already approved', async () => {
    const { rows, listing } = await run([
      requestFor({ approvals: [{ by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: requestedAt }] }),
    ])

    expect(listing.title.text).toBe("1 request needs approval. You can't approve it.")
    expect(rows[0]).toContain('1 of 3 approvals')
  })

  test('says how many requests are not shown, if there are too many', async () => {
    const { rows, listing } = await run(Array.from({ length: 612 }, (_, index) => requestFor({ id: `waiting-${index}` })))

    expect(rows).toHaveLength(500)
    expect([listing.title, ...(listing.notes ?? [])].map(({ text }) => text)).toEqual([
      '612 requests need approval. You can approve at least 500.',
      'Only the 500 oldest are shown. The other 112 follow as these end.',
    ])
  })

  test('counts the requests that another version of Lockkeeper wrote and this one cannot read', async () => {
    const { rows, listing } = await run([requestFor(), requestFor({ id: 'newer', version: 99 }), requestFor({ id: 'newest', version: 99 })])

    expect(rows).toHaveLength(1)
    expect([listing.title, ...(listing.notes ?? [])].map(({ text }) => text)).toEqual([
      '1 request needs approval. You can approve it.',
      ":warning: 2 requests aren't listed: written by another version of Lockkeeper.",
    ])
  })

  test('says if no request waits', async () => {
    const { rows, listing } = await run([])

    expect([rows, listing.empty.text]).toEqual([[], 'No requests need approval.'])
  })

  test('does not say that none waits if another version wrote all that do', async () => {
    const { listing } = await run([requestFor({ version: 99 })])

    expect([listing.empty, ...(listing.notes ?? [])].map(({ text }) => text)).toEqual([
      'No requests can be shown.',
      ":warning: 1 request isn't listed: written by another version of Lockkeeper.",
    ])
  })
})
