import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/domain/errors.ts'
import { checkMove, type MoveReads, needsAssignedServer } from '../../../src/moves/move.ts'
import { ashburn, assignedServerFor, billing, elasticIpFor, frankfurt, ids, serverFor } from '../account-objects.ts'

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
  test('passes although ids differ between kinds of objects', () => {
    const { facts, unchecked, incomplete } = check()

    expect(unchecked).toEqual([])
    expect(incomplete).toBe(false)
    expect(facts).toEqual({
      elasticIpId: ids.elasticIp,
      address: '203.0.113.10',
      from: { id: ids.web1, name: 'web-1' },
      to: { id: ids.web2, name: 'web-2' },
      toAddress: '198.51.100.22',
      project: { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' },
      site: 'ASH',
    })
  })

  test('refuses a move that cannot be made, with the reason', () => {
    expect(refusal({ elasticIp: elasticIpFor({ status: 'moving', server: { id: ids.web3, hostname: 'web-3' } }) })).toMatchInlineSnapshot(
      `"203.0.113.10 is already moving. Wait until that move has ended, then request again."`,
    )
    expect(refusal({ elasticIp: elasticIpFor({ status: 'configuring' }) })).toMatchInlineSnapshot(
      `"203.0.113.10 has status configuring. Only active Elastic IPs can be moved."`,
    )
    for (const more of [{ id: 'ueip_v9BVDaGvdRm1W' }, { mode: 'bgp' }, { mode: 'BGP', status: 'error' }])
      expect(refusal({ elasticIp: elasticIpFor(more) })).toBe(
        "203.0.113.10 is a BGP address: several servers can announce it, so it isn't moved.",
      )
    expect(refusal({ elasticIp: elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } }) })).toMatchInlineSnapshot(
      `"203.0.113.10 is already on web-2."`,
    )
    expect(refusal({ target: serverFor({ project: billing }) })).toMatchInlineSnapshot(
      `"web-2 is in project Billing, and 203.0.113.10 is in Storefront. An Elastic IP can only be moved within its project."`,
    )
  })

  test('names the two objects whose sites differ', () => {
    const target = serverFor({ site: frankfurt.onServers })
    expect(refusal({ target, assigned: assignedServerFor() })).toMatchInlineSnapshot(
      `"web-2 is in site FRA, and 203.0.113.10 is in ASH. An Elastic IP can only be moved within its site."`,
    )
    expect(refusal({ target, elasticIp: elasticIpFor({ server: undefined }) })).toMatchInlineSnapshot(
      `"web-2 is in site FRA, and 203.0.113.10 is in ASH. An Elastic IP can only be moved within its site."`,
    )
  })

  test('names the ids if the names and slugs are equal', () => {
    const [one, two] = [{ ...ashburn.onServers }, { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' }]
    const elsewhere = elasticIpFor({ site: frankfurt.onElasticIps })

    expect(
      refusal({
        elasticIp: elasticIpFor({ site: undefined }),
        target: serverFor({ site: { ...one, slug: undefined } }),
        assigned: assignedServerFor({ site: two }),
      }),
    ).toMatchInlineSnapshot(
      `"web-2 is in site “Ashburn 74 (loc_87vRENkgNdPyk)”, and 203.0.113.10 is in “Ashburn 74 (loc_n0tTh3S4m31d)”. An Elastic IP can only be moved within its site."`,
    )
    expect(
      refusal({ elasticIp: elsewhere, target: serverFor({ site: one }), assigned: assignedServerFor({ site: two }) }),
    ).toMatchInlineSnapshot(`"web-2 is in site ASH, and 203.0.113.10 is in FRA. An Elastic IP can only be moved within its site."`)
    expect(refusal({ target: serverFor({ project: { id: billing.id, name: 'Storefront' } }) })).toMatchInlineSnapshot(
      `"web-2 is in project “Storefront (proj_R82A9jVb5Lq0d)”, and 203.0.113.10 is in “Storefront (proj_6059EqYkOQj8p)”. An Elastic IP can only be moved within its project."`,
    )
  })

  test('uses the site of the assigned server if the address shows another site than the target', () => {
    const sao = { id: 'loc_ZnPRbajK0koM1', name: 'São Paulo 74', slug: 'SAO2' }
    const elasticIp = elasticIpFor({ site: { id: 'site_sao', name: 'São Paulo', slug: 'SAO' } })
    const target = serverFor({ site: sao })

    expect(needsAssignedServer({ elasticIp, target })).toBe(true)
    expect(check({ elasticIp, target, assigned: assignedServerFor({ site: sao }) }).unchecked).toEqual([])
  })

  test('does not need the assigned server if the slugs are equal, or if nothing can be compared', () => {
    expect(needsAssignedServer({ elasticIp: elasticIpFor(), target: serverFor() })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ server: undefined }), target: serverFor({ site: undefined }) })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ site: undefined }), target: undefined })).toBe(false)
    expect(needsAssignedServer({ elasticIp: elasticIpFor({ site: undefined }), target: serverFor() })).toBe(true)
  })

  test('warns of an address without a server, because nothing was left unchecked', () => {
    const { warnings, unchecked } = check({ elasticIp: elasticIpFor({ server: undefined }), target: serverFor() })

    expect([warnings, unchecked]).toEqual([[{ code: 'server-not-shown', address: '203.0.113.10' }], []])
  })

  test('lists what the account does not show or does not answer, and does not refuse it', () => {
    const bare = { elasticIp: elasticIpFor({ site: undefined, server: undefined }), target: serverFor({ project: undefined }) }
    expect(check(bare).unchecked).toEqual([
      { code: 'project-not-compared', server: 'web-2' },
      { code: 'site-not-compared', server: 'web-2' },
    ])
    expect(check({ target: serverFor({ project: { ...billing, slug: 'storefront' } }) }).unchecked).toEqual([
      { code: 'project-not-compared', server: 'web-2' },
    ])
    const assigned = assignedServerFor({ site: { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' } })
    expect(check({ elasticIp: elasticIpFor({ site: undefined }), assigned }).unchecked).toEqual([
      { code: 'site-not-compared', server: 'web-2' },
    ])
    expect(check({ elasticIp: elasticIpFor({ status: 'unknown' }) }).unchecked).toEqual([
      { code: 'status-not-shown', address: '203.0.113.10' },
    ])
    const unread = check({ elasticIp: undefined, target: undefined })
    expect(unread.incomplete).toBe(true)
    expect(unread.unchecked).toEqual([
      { code: 'elastic-ip-unread', elasticIpId: ids.elasticIp },
      { code: 'server-unread', serverId: ids.web2 },
    ])
    expect(unread.facts).toEqual({ elasticIpId: ids.elasticIp, to: { id: ids.web2, name: ids.web2 } })
  })
})
