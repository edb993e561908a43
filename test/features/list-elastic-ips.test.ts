import { expect, test } from 'vitest'
import type { ElasticIp } from '../../src/domain/account.ts'
import type { Missing } from '../../src/domain/errors.ts'
import { elasticIpDetails, elasticIpListing } from '../../src/features/ip-list.ts'
import { code, mrkdwn } from '../../src/slack/text.ts'

const active: ElasticIp = {
  id: 'eip_1GijF7NsZe3bN',
  address: '203.0.113.10',
  status: 'active',
  server: { id: 'sv_1WFgWmkF9Mzju', hostname: 'web-1' },
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  site: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' },
  regionNames: ['United States'],
}
const pending: ElasticIp = {
  ...active,
  id: 'eip_2VszvKL6sK72c',
  address: '203.0.113.11',
  status: 'pending',
  server: undefined,
  site: undefined,
}

test('Elastic IPs that the account API sent and the list lacks are counted', () => {
  const notes = (missing: Missing, ...words: string[]) => elasticIpListing([active], words, missing).notes?.map(String)

  expect(notes({ unreadable: 1, unready: 2 })).toEqual([
    ":warning: Not listed: 1 that couldn't be read.",
    'Not listed: 2 still being provisioned. Run the command again in a few minutes.',
  ])
  expect(notes({ unreadable: 0, unready: 0 })).toEqual([])
  expect(notes({ unreadable: 1, unready: 2 }, 'ash')).toEqual([":warning: Not listed: 1 that couldn't be read."])
})

test('an Elastic IP is shown with its status, and found by it', () => {
  const listing = elasticIpListing([pending, active], [])

  expect(listing.rows.map(String)).toMatchInlineSnapshot(`
    [
      ":large_green_circle: *\`203.0.113.10\`*  ·  on \`web-1\`  ·  active  ·  Storefront  ·  ASH",
      ":white_circle: *\`203.0.113.11\`*  ·  no server shown  ·  pending  ·  Storefront",
    ]
  `)
  expect(listing.table?.headers.slice(0, 2)).toEqual(['Address', 'Server'])
  expect(elasticIpListing([pending, active], ['pending']).rows).toHaveLength(1)
  expect(elasticIpListing([active], ['ashburn', 'states']).rows).toHaveLength(1)
  expect(String(elasticIpListing([active], ['dallas']).empty)).toBe(
    "The only Elastic IP doesn't match `dallas`. Use another word. Sites in this list: ASH.",
  )
})

test('BGP addresses are marked, and found by it', () => {
  const bgp = { ...active, id: 'ueip_v9BVDaGvdRm1W', address: '203.0.113.12', server: undefined }

  expect(elasticIpListing([active, bgp, { ...active, mode: 'bgp' }], ['bgp']).rows.map(String)).toEqual([
    ':large_green_circle: *`203.0.113.10`*  ·  on `web-1`  ·  active, BGP  ·  Storefront  ·  ASH',
    ':large_green_circle: *`203.0.113.12`*  ·  no server shown  ·  active, BGP  ·  Storefront  ·  ASH',
  ])
})

test('the details of an Elastic IP that cannot be moved say why, and offer no move', () => {
  expect(elasticIpDetails(active)).not.toHaveProperty('isFixed')
  expect(elasticIpDetails({ ...active, mode: 'bgp' })).toMatchObject({
    isFixed: true,
    notes: [
      mrkdwn`${code('203.0.113.10')} is a BGP address: several servers can announce it, so it isn't moved. Close or open its BGP sessions in the dashboard.`,
    ],
  })
  expect(elasticIpDetails(pending)).toMatchObject({ isFixed: true })
})
