import { describe, expect, test } from 'vitest'
import type { Server } from '../../../src/account/objects.ts'
import { UserError } from '../../../src/domain/errors.ts'
import { moveChange } from '../../../src/features/moves/move-change.ts'
import {
  checkMove,
  completeMove,
  type MoveFacts,
  type MoveReads,
  moveDifferences,
  needsAssignedServer,
} from '../../../src/features/moves/move-checks.ts'
import { ashburn, assignedServerFor, billing, elasticIpFor, frankfurt, ids, serverFor } from '../../domain/account-objects.ts'

const input = { elasticIpId: ids.elasticIp, serverId: ids.web2 }
const address = '203.0.113.10'

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

const [one, two] = [{ ...ashburn.onServers }, { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' }]
const inFrankfurt = serverFor({ site: frankfurt.onServers })
const isBgp = "203.0.113.10 is a BGP address: several servers can announce it, so it isn't moved."
const otherSite = "web-2 is in site FRA, and 203.0.113.10 is in ASH: it can't leave its site."

describe('the preflight check of a move', () => {
  test('passes although ids differ between kinds of objects', () => {
    const { facts, unchecked, incomplete } = check()

    expect([unchecked, incomplete]).toEqual([[], false])
    expect(facts).toEqual({
      elasticIpId: ids.elasticIp,
      address,
      from: { id: ids.web1, name: 'web-1' },
      to: { id: ids.web2, name: 'web-2' },
      project: { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' },
      site: 'ASH',
    })
  })

  test.each<[string, Partial<MoveReads>, string]>([
    ['moving', { elasticIp: elasticIpFor({ status: 'moving', server: { id: ids.web3, hostname: 'web-3' } }) }, 'is already moving.'],
    ['not active', { elasticIp: elasticIpFor({ status: 'configuring' }) }, 'has status configuring, not active.'],
    ['BGP by its id', { elasticIp: elasticIpFor({ id: 'ueip_v9BVDaGvdRm1W' }) }, isBgp],
    ['BGP by its mode', { elasticIp: elasticIpFor({ mode: 'BGP', status: 'error' }) }, isBgp],
    ['there', { elasticIp: elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } }) }, '203.0.113.10 is already on web-2.'],
    [
      'in another project',
      { target: serverFor({ project: billing }) },
      "web-2 is in project Billing, and 203.0.113.10 is in Storefront: it can't leave its project.",
    ],
    ['in another site by its server', { target: inFrankfurt, assigned: assignedServerFor() }, otherSite],
    ['in another site by itself', { target: inFrankfurt, elasticIp: elasticIpFor({ server: undefined }) }, otherSite],
    [
      'in another site of the same name',
      {
        elasticIp: elasticIpFor({ site: undefined }),
        target: serverFor({ site: { ...one, slug: undefined } }),
        assigned: assignedServerFor({ site: two }),
      },
      "web-2 is in site “Ashburn 74 (loc_87vRENkgNdPyk)”, and 203.0.113.10 is in “Ashburn 74 (loc_n0tTh3S4m31d)”: it can't leave its site.",
    ],
    [
      'in another project of the same name',
      { target: serverFor({ project: { id: billing.id, name: 'Storefront' } }) },
      "web-2 is in project “Storefront (proj_R82A9jVb5Lq0d)”, and 203.0.113.10 is in “Storefront (proj_6059EqYkOQj8p)”: it can't leave its project.",
    ],
  ])('refuses an address that is %s', (_, reads, words) => {
    expect(refusal(reads)).toContain(words)
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
    const { warnings, unchecked } = check({ elasticIp: elasticIpFor({ server: undefined }) })
    expect([warnings, unchecked]).toEqual([[{ code: 'server-not-shown', address }], []])
  })

  const project = { code: 'project-not-compared', server: 'web-2' }
  const site = { code: 'site-not-compared', server: 'web-2' }
  const unread = [
    { code: 'elastic-ip-unread', elasticIpId: ids.elasticIp },
    { code: 'server-unread', serverId: ids.web2 },
  ]
  test.each<[string, Partial<MoveReads>, object[]]>([
    [
      'neither project nor site',
      { elasticIp: elasticIpFor({ site: undefined, server: undefined }), target: serverFor({ project: undefined }) },
      [project, site],
    ],
    ['two projects of one slug', { target: serverFor({ project: { ...billing, slug: 'storefront' } }) }, [project]],
    ['two sites of one slug', { elasticIp: elasticIpFor({ site: undefined }), assigned: assignedServerFor({ site: two }) }, [site]],
    ['no status', { elasticIp: elasticIpFor({ status: 'unknown' }) }, [{ code: 'status-not-shown', address }]],
    ['nothing', { elasticIp: undefined, target: undefined }, unread],
  ])('lists what it could not compare, and does not refuse it, if the account shows %s', (_, reads, unchecked) => {
    expect(check(reads).unchecked).toEqual(unchecked)
  })

  test('knows only the ids of what it could not read', () => {
    const { incomplete, facts } = check({ elasticIp: undefined, target: undefined })
    expect([incomplete, facts]).toEqual([true, { elasticIpId: ids.elasticIp, to: { id: ids.web2, name: ids.web2 } }])
  })
})

describe('a difference since the approval', () => {
  const approved: MoveFacts = check().facts
  const { from, ...rest } = approved
  const hidden: MoveFacts = { ...rest, showsNoServer: true }
  const bare: MoveFacts = { elasticIpId: approved.elasticIpId, to: approved.to }
  const sameNames = { from: { id: ids.web3, name: 'web-1' }, project: { id: ids.billing, name: 'Storefront' } }

  test.each<[string, MoveFacts, MoveFacts, object[]]>([
    [
      'another server, address or project',
      approved,
      { ...approved, from: { id: ids.web3, name: 'db-1' }, address: '203.0.113.99', project: { id: ids.billing, name: 'Billing' } },
      [
        { code: 'server-changed', address: '203.0.113.99', now: 'db-1' },
        { code: 'address-changed', before: address, now: '203.0.113.99' },
        { code: 'project-changed', before: 'Storefront', now: 'Billing' },
      ],
    ],
    [
      'another id of an equal name, and says it',
      approved,
      { ...approved, ...sameNames },
      [
        { code: 'server-changed', address, now: 'web-1 (sv_bT90rYxPqJ6Uh)' },
        { code: 'project-changed', before: 'Storefront (proj_6059EqYkOQj8p)', now: 'Storefront (proj_R82A9jVb5Lq0d)' },
      ],
    ],
    [
      'no other id of a project with the same slug, which the preflight check lists',
      approved,
      { ...approved, project: { id: ids.billing, name: 'Storefront', slug: 'storefront' } },
      [],
    ],
    [
      'no other name, site label, or address written with its prefix length',
      approved,
      {
        ...approved,
        from: { id: ids.web1, name: 'web-1-renamed' },
        to: { id: ids.web2, name: 'web-two' },
        site: 'ASH2',
        address: '203.0.113.10/32',
      },
      [],
    ],
    ['a server that is shown again: the address is alive', hidden, approved, [{ code: 'server-shown', address, now: 'web-1' }]],
    ['no server that is no longer shown', approved, hidden, []],
    ['no server that was never shown', hidden, hidden, []],
    ['no member that is no longer shown', approved, bare, []],
    ['no member that was not shown', bare, approved, []],
  ])('is %s', (_, before, now, differences) => {
    expect(moveDifferences(before, now)).toEqual(differences)
  })

  test('keeps the old server of an address that shows none any more', () => {
    const now = check({ elasticIp: elasticIpFor({ server: undefined }) }).facts
    const complete = completeMove(approved, now)

    expect(complete).toMatchObject({ from, showsNoServer: true })
    expect(completeMove(now, approved)).toEqual(approved)
  })
})

const isOff = (status: string) => [{ code: 'assigned-to-server-not-on', server: 'web-2', status }]
test.each<[string, string | undefined, () => Promise<Server>, object[] | undefined]>([
  ['that was off and still is says so', 'off', async () => serverFor({ status: 'off' }), isOff('off')],
  ['that is on by then says nothing more', 'deploying', async () => serverFor(), []],
  ['that cannot be read any more says how it was before', 'off', () => Promise.reject(new Error('away')), isOff('off')],
  ['that was on costs no further read', undefined, () => expect.fail('the server was read'), undefined],
])('the end of a move to a server %s', async (_, toStatus, now, notes) => {
  const facts: MoveFacts = { elasticIpId: ids.elasticIp, address, to: { id: ids.web2, name: 'web-2' }, toStatus }
  const moment = { phase: 'accepted' as const, sinceSentMs: 60_000, early: false, isUnsettled: false }
  const moved = elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } })
  const change = moveChange({ account: { elasticIps: { get: async () => moved }, servers: { get: now } } } as never)

  expect(await change.observe(input, facts, moment, { signal: AbortSignal.timeout(1_000) })).toEqual({ is: 'done', notes })
})
