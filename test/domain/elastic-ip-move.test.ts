import { describe, expect, test } from 'vitest'
import {
  checkMove,
  completeMove,
  type MoveFacts,
  type MoveReads,
  moveDifferences,
  moveRemark,
  needsAssignedServer,
} from '../../src/domain/elastic-ip-move.ts'
import { UserError } from '../../src/domain/errors.ts'
import { ashburn, assignedServerFor, billing, elasticIpFor, frankfurt, ids, serverFor } from './account-objects.ts'

const input = { elasticIpId: ids.elasticIp, serverId: ids.web2 }

function check(reads: Partial<MoveReads> = {}) {
  return checkMove(input, { elasticIp: elasticIpFor(), target: serverFor(), assigned: undefined, ...reads })
}

function refusal(reads: Partial<MoveReads>): string {
  try {
    check(reads)
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
  return 'not refused'
}

describe('the preflight check of a move', () => {
  test('finds everything in order on ids that differ between kinds of objects', () => {
    const { facts, unchecked, incomplete } = check()

    expect(unchecked).toEqual([])
    expect(incomplete).toBe(false)
    expect(facts).toMatchInlineSnapshot(`
      {
        "address": "203.0.113.10",
        "elasticIpId": "eip_KeQbB4BoO6x10",
        "from": {
          "id": "sv_vKm8ZaLzG5R2n",
          "name": "web-1",
        },
        "project": {
          "id": "proj_6059EqYkOQj8p",
          "name": "Storefront",
          "slug": "storefront",
        },
        "site": "ASH",
        "to": {
          "id": "sv_W3mVpQ0xNd7Lk",
          "name": "web-2",
        },
        "toAddress": "198.51.100.22",
      }
    `)
  })

  test('refuses what cannot be moved, with the reason', () => {
    expect(refusal({ elasticIp: elasticIpFor({ status: 'moving', server: { id: ids.web3, hostname: 'web-3' } }) })).toMatchInlineSnapshot(
      `"203.0.113.10 is moving to web-3 already. Wait until that move has ended, then ask again."`,
    )
    expect(refusal({ elasticIp: elasticIpFor({ status: 'configuring' }) })).toMatchInlineSnapshot(
      `"203.0.113.10 is configuring, and only an active Elastic IP can be moved."`,
    )
    expect(refusal({ elasticIp: elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } }) })).toMatchInlineSnapshot(
      `"203.0.113.10 is on web-2 already, so there is nothing to move."`,
    )
    expect(refusal({ target: serverFor({ project: billing }) })).toMatchInlineSnapshot(
      `"web-2 is in project Billing, and 203.0.113.10 is in Storefront. An Elastic IP can only be moved within its project."`,
    )
  })

  test('names the two objects whose sites differ', () => {
    const target = serverFor({ site: frankfurt.onServers })
    expect(refusal({ target, assigned: assignedServerFor() })).toMatchInlineSnapshot(
      `"web-2 is in site FRA, and web-1, which has 203.0.113.10, is in ASH. An Elastic IP can only be moved within its site."`,
    )
    expect(refusal({ target, elasticIp: elasticIpFor({ server: undefined }) })).toMatchInlineSnapshot(
      `"web-2 is in site FRA, and 203.0.113.10 is in ASH. An Elastic IP can only be moved within its site."`,
    )
  })

  test('names what a person can see to differ, where names and slugs do not show it', () => {
    const [one, two] = [{ ...ashburn.onServers }, { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' }]
    const elsewhere = elasticIpFor({ site: frankfurt.onElasticIps })

    expect(
      refusal({
        elasticIp: elasticIpFor({ site: undefined }),
        target: serverFor({ site: { ...one, slug: undefined } }),
        assigned: assignedServerFor({ site: two }),
      }),
    ).toMatchInlineSnapshot(
      `"web-2 is in site Ashburn 74 (loc_87vRENkgNdPyk), and web-1, which has 203.0.113.10, is in Ashburn 74 (loc_n0tTh3S4m31d). An Elastic IP can only be moved within its site."`,
    )
    expect(
      refusal({ elasticIp: elsewhere, target: serverFor({ site: one }), assigned: assignedServerFor({ site: two }) }),
    ).toMatchInlineSnapshot(`"web-2 is in site ASH, and 203.0.113.10 is in FRA. An Elastic IP can only be moved within its site."`)
    expect(refusal({ target: serverFor({ project: { id: billing.id, name: 'Storefront' } }) })).toMatchInlineSnapshot(
      `"web-2 is in project Storefront (proj_R82A9jVb5Lq0d), and 203.0.113.10 is in Storefront (proj_6059EqYkOQj8p). An Elastic IP can only be moved within its project."`,
    )
  })

  test('goes by the assigned server where the address itself shows another site than the target', () => {
    const sao = { id: 'loc_ZnPRbajK0koM1', name: 'São Paulo 74', slug: 'SAO2' }
    const elasticIp = elasticIpFor({ site: { id: 'site_sao', name: 'São Paulo', slug: 'SAO' } })
    const target = serverFor({ site: sao })

    expect(needsAssignedServer({ elasticIp, target })).toBe(true)
    expect(check({ elasticIp, target, assigned: assignedServerFor({ site: sao }) }).unchecked).toEqual([])
  })

  test('needs no read of the assigned server where the slugs agree, or nothing is to be compared', () => {
    expect(needsAssignedServer({ elasticIp: elasticIpFor(), target: serverFor() })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ server: undefined }), target: serverFor({ site: undefined }) })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ site: undefined }), target: undefined })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ site: undefined }), target: serverFor() })).toBe(true)
  })

  test('lists what the account does not show, and refuses nothing because of it', () => {
    expect(
      check({ elasticIp: elasticIpFor({ site: undefined, server: undefined }), target: serverFor({ project: undefined }) }).unchecked,
    ).toMatchInlineSnapshot(`
      [
        {
          "address": "203.0.113.10",
          "code": "server-not-shown",
        },
        {
          "code": "project-not-compared",
          "server": "web-2",
        },
        {
          "code": "site-not-compared",
          "server": "web-2",
        },
      ]
    `)
    expect(check({ target: serverFor({ project: { ...billing, slug: 'storefront' } }) }).unchecked).toMatchInlineSnapshot(`
      [
        {
          "code": "project-not-compared",
          "server": "web-2",
          "slug": "storefront",
        },
      ]
    `)
    expect(
      check({
        elasticIp: elasticIpFor({ site: undefined }),
        assigned: assignedServerFor({ site: { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' } }),
      }).unchecked,
    ).toMatchInlineSnapshot(`
      [
        {
          "code": "site-not-compared",
          "server": "web-2",
          "slug": "ASH",
        },
      ]
    `)
  })

  test('lists a status that the account API does not tell', () => {
    expect(check({ elasticIp: elasticIpFor({ status: 'unknown' }) }).unchecked).toMatchInlineSnapshot(`
      [
        {
          "address": "203.0.113.10",
          "code": "status-not-shown",
        },
      ]
    `)
  })

  test('lists what the account API did not answer', () => {
    const { facts, unchecked, incomplete } = check({ elasticIp: undefined, target: undefined })

    expect(incomplete).toBe(true)
    expect(unchecked).toMatchInlineSnapshot(`
      [
        {
          "code": "elastic-ip-unread",
          "elasticIpId": "eip_KeQbB4BoO6x10",
        },
        {
          "code": "server-unread",
          "serverId": "sv_W3mVpQ0xNd7Lk",
        },
      ]
    `)
    expect(facts).toEqual({ elasticIpId: ids.elasticIp, to: { id: ids.web2, name: ids.web2 } })
  })
})

describe('a difference between what was approved and what the account shows now', () => {
  const approved: MoveFacts = check().facts
  const without = (...names: (keyof MoveFacts)[]): MoveFacts => {
    const facts = { ...approved }
    for (const name of names) delete facts[name]
    return facts
  }

  test('is another server, address or project', () => {
    expect(
      moveDifferences(approved, {
        ...approved,
        from: { id: ids.web3, name: 'db-1' },
        address: '203.0.113.99',
        project: { id: ids.billing, name: 'Billing' },
      }),
    ).toMatchInlineSnapshot(`
      [
        {
          "address": "203.0.113.99",
          "before": "web-1",
          "code": "server-changed",
          "now": "db-1",
        },
        {
          "before": "203.0.113.10",
          "code": "address-changed",
          "now": "203.0.113.99",
        },
        {
          "before": "Storefront",
          "code": "project-changed",
          "now": "Billing",
        },
      ]
    `)
  })

  test('is told by ids where the names are equal', () => {
    expect(
      moveDifferences(approved, {
        ...approved,
        from: { id: ids.web3, name: 'web-1' },
        project: { id: ids.billing, name: 'Storefront' },
      }),
    ).toMatchInlineSnapshot(`
      [
        {
          "address": "203.0.113.10",
          "before": "web-1 (sv_vKm8ZaLzG5R2n)",
          "code": "server-changed",
          "now": "web-1 (sv_bT90rYxPqJ6Uh)",
        },
        {
          "before": "Storefront (proj_6059EqYkOQj8p)",
          "code": "project-changed",
          "now": "Storefront (proj_R82A9jVb5Lq0d)",
        },
      ]
    `)
  })

  test('is not another id of a project with the same slug, which the preflight check lists', () => {
    expect(moveDifferences(approved, { ...approved, project: { id: ids.billing, name: 'Storefront', slug: 'storefront' } })).toEqual([])
  })

  test('is not another name, another site label, or an address written with its prefix length', () => {
    expect(
      moveDifferences(approved, {
        ...approved,
        from: { id: ids.web1, name: 'web-1-renamed' },
        to: { id: ids.web2, name: 'web-two' },
        site: 'ASH2',
        address: '203.0.113.10/32',
      }),
    ).toEqual([])
  })

  test('is not what one of the two reads does not show', () => {
    const bare = without('from', 'address', 'project', 'site')
    expect(moveDifferences(approved, bare)).toEqual([])
    expect(moveDifferences(bare, approved)).toEqual([])
  })
})

describe('an address whose server is no longer shown', () => {
  const approved: MoveFacts = check().facts
  const { facts: now } = check({ elasticIp: elasticIpFor({ server: undefined }) })

  test('goes on, and the old server is known from the approval', () => {
    expect(moveDifferences(approved, now)).toEqual([])
    expect(completeMove(approved, now)).toMatchObject({ from: { id: ids.web1, name: 'web-1' }, showsNoServer: true })
  })

  test('is told in the thread', () => {
    expect(moveRemark(completeMove(approved, now))).toMatchInlineSnapshot(
      `"The account showed no server for 203.0.113.10 when the move was sent. It was on web-1 when this was requested."`,
    )
    expect(moveRemark(approved)).toBeUndefined()
    // Nobody knows where it was: the request message says so already.
    expect(moveRemark(now)).toBeUndefined()
  })

  test('is on its server again where a later read shows it', () => {
    expect(completeMove(now, approved)).toEqual(approved)
  })
})
