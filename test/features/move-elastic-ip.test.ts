import { describe, expect, test } from 'vitest'
import type { ElasticIp } from '../../src/domain/elastic-ip.ts'
import { UserError } from '../../src/domain/errors.ts'
import type { Server } from '../../src/domain/server.ts'
import { describeMove, differencesOf, judgePreflight, type MoveFacts } from '../../src/features/move-elastic-ip/change.ts'
import { chooseServer } from '../../src/features/move-elastic-ip/resolve.ts'

const project = { id: 'proj_1', name: 'Storefront', slug: 'storefront' }
const site = { id: 'site_1', name: 'Ashburn', slug: 'ASH' }

const elasticIp: ElasticIp = {
  id: 'eip_1',
  address: '203.0.113.10',
  status: 'active',
  server: { id: 'sv_1', hostname: 'web-1' },
  project,
  site,
}
const server: Server = {
  id: 'sv_2',
  hostname: 'web-2',
  label: undefined,
  primaryIpv4: '198.51.100.22',
  status: 'on',
  locked: false,
  project,
  site,
}
const input = { elasticIpId: 'eip_1', serverId: 'sv_2' }

function preflight(ip: Partial<ElasticIp> = {}, target: Partial<Server> = {}) {
  return judgePreflight(input, { is: 'read', value: { ...elasticIp, ...ip } }, { is: 'read', value: { ...server, ...target } })
}

function refusal(ip: Partial<ElasticIp>, target: Partial<Server> = {}): string {
  try {
    preflight(ip, target)
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
  return 'not refused'
}

describe('the preflight of a move', () => {
  test('a move that can be made is described whole', () => {
    const { facts, unchecked, incomplete } = preflight()
    expect(unchecked).toEqual([])
    expect(incomplete).toBe(false)
    expect(describeMove(facts)).toMatchInlineSnapshot(`
      {
        "facts": [
          {
            "detail": "eip_1",
            "label": "Elastic IP",
            "value": "203.0.113.10",
          },
          {
            "label": "Site",
            "value": "Ashburn (ASH)",
          },
          {
            "detail": "sv_1",
            "label": "From",
            "value": "web-1",
          },
          {
            "detail": "sv_2, 198.51.100.22",
            "label": "To",
            "value": "web-2",
          },
          {
            "label": "Project",
            "value": "Storefront",
          },
        ],
        "sentence": "Move 203.0.113.10 from web-1 to web-2",
        "title": "Move Elastic IP",
        "underway": "moving",
      }
    `)
  })

  test('what cannot be made is refused, with the reason', () => {
    expect(refusal({ status: 'moving', server: { id: 'sv_3', hostname: 'web-3' } })).toMatchInlineSnapshot(
      `"203.0.113.10 is moving to web-3 already. Wait until that move has ended, then ask again."`,
    )
    expect(refusal({ status: 'configuring' })).toMatchInlineSnapshot(
      `"203.0.113.10 is configuring, and only an active Elastic IP can be moved."`,
    )
    expect(refusal({ server: { id: 'sv_2', hostname: 'web-2' } })).toMatchInlineSnapshot(
      `"203.0.113.10 is on web-2 already, so there is nothing to move."`,
    )
    expect(refusal({}, { project: { id: 'proj_2', name: 'Billing', slug: 'billing' } })).toMatchInlineSnapshot(
      `"web-2 is in project Billing, and 203.0.113.10 in Storefront. An Elastic IP can only be moved within its project."`,
    )
    expect(refusal({}, { site: { id: 'site_2', name: 'Frankfurt', slug: 'FRA' } })).toMatchInlineSnapshot(
      `"web-2 is in site Frankfurt (FRA), and 203.0.113.10 in Ashburn (ASH). An Elastic IP can only be moved within its site."`,
    )
  })

  test('what the account API does not tell is said, not refused', () => {
    expect(preflight({ site: undefined, server: undefined }, { project: undefined }).unchecked).toMatchInlineSnapshot(`
      [
        "which server 203.0.113.10 is on (the account API shows none)",
        "whether web-2 is in the same project (the account API does not tell)",
        "whether web-2 is in the same site (the account API does not tell)",
      ]
    `)
  })

  test('sites are compared by what both sides tell', () => {
    expect(preflight({ site: { id: undefined, name: undefined, slug: 'ASH' } }).unchecked).toEqual([])
    expect(refusal({ site: { id: undefined, name: undefined, slug: 'FRA' } })).toContain('within its site')
  })

  test('an account API that does not answer leaves the questions open', () => {
    const { facts, unchecked, incomplete } = judgePreflight(input, { is: 'unread' }, { is: 'unread' })
    expect(incomplete).toBe(true)
    expect(unchecked).toMatchInlineSnapshot(`
      [
        "whether Elastic IP eip_1 exists and is active (the account API did not answer)",
        "whether server sv_2 exists (the account API did not answer)",
      ]
    `)
    expect(describeMove(facts).sentence).toBe('Move eip_1 to sv_2')
  })
})

describe('a world that has changed since', () => {
  const approved: MoveFacts = preflight().facts

  test('is told, when what was approved is no longer so', () => {
    expect(differencesOf(approved, { ...approved, from: { id: 'sv_9', name: 'db-1' } })).toEqual([
      '203.0.113.10 was on web-1 when this was asked for, and is on db-1 now.',
    ])
    expect(differencesOf(approved, { ...approved, project: { id: 'proj_2', name: 'Billing' } })).toHaveLength(1)
  })

  test('is no matter, when only a name is another', () => {
    expect(
      differencesOf(approved, { ...approved, from: { id: 'sv_1', name: 'web-1-renamed' }, to: { id: 'sv_2', name: 'web-two' } }),
    ).toEqual([])
  })

  test('cannot differ from what was not known', () => {
    const { from: _, ...unknown } = approved
    expect(differencesOf(unknown, approved)).toEqual([])
  })
})

describe('a server by its hostname', () => {
  const twin = { ...server, id: 'sv_7', project: { id: 'proj_2', name: 'Billing', slug: 'billing' } }

  test('is the one in the project of the Elastic IP', () => {
    expect(chooseServer('web-2', [twin, server], elasticIp)).toBe('sv_2')
  })

  test('is asked for by id, where several fit', () => {
    expect(() => chooseServer('web-2', [twin, server], undefined)).toThrowErrorMatchingInlineSnapshot(
      `[UserError: There are 2 servers called web-2: sv_7 (Billing, ASH), sv_2 (Storefront, ASH). Give the id of the one you mean.]`,
    )
    expect(() => chooseServer('web-9', [], elasticIp)).toThrowErrorMatchingInlineSnapshot(
      `[UserError: There is no server web-9 on the account. Give its hostname or its id.]`,
    )
  })
})
