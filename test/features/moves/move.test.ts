import { describe, expect, test } from 'vitest'
import type { Server } from '../../../src/account/objects.ts'
import { placeFact } from '../../../src/domain/account.ts'
import { ApiUnreachableError, UserError } from '../../../src/domain/errors.ts'
import { phraseText } from '../../../src/domain/text.ts'
import { moveChange } from '../../../src/features/moves/move-change.ts'
import {
  checkMove,
  completeMove,
  type MoveFacts,
  type MoveReads,
  moveDifferences,
  moveWords,
  needsAssignedServer,
} from '../../../src/features/moves/move-checks.ts'
import { ashburn, assignedServerFor, billing, elasticIpFor, frankfurt, ids, serverFor } from '../../domain/account-objects.ts'
import { expectDocument } from '../../messages/documents.ts'
import { wholeList } from '../../whole-list.ts'

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
  return 'no'
}

const [one, two] = [{ ...ashburn.onServers }, { ...ashburn.onServers, id: 'loc_n0tTh3S4m31d' }]
const inFrankfurt = serverFor({ site: frankfurt.onServers })

/** What the account shows of a move that is refused. */
const refused: Record<string, Partial<MoveReads>> = {
  'It moves': { elasticIp: elasticIpFor({ status: 'moving', server: { id: ids.web3, hostname: 'web-3' } }) },
  'It is not active': { elasticIp: elasticIpFor({ status: 'configuring' }) },
  'It is a BGP address by its id': { elasticIp: elasticIpFor({ id: 'ueip_v9BVDaGvdRm1W' }) },
  'It is a BGP address by its mode': { elasticIp: elasticIpFor({ mode: 'BGP', status: 'error' }) },
  'It is there': { elasticIp: elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } }) },
  'It is in another project': { target: serverFor({ project: billing }) },
  'It is in another site by its server': { target: inFrankfurt, assigned: assignedServerFor() },
  'It is in another site by itself': { target: inFrankfurt, elasticIp: elasticIpFor({ server: undefined }) },
  'It is in another site of the same name': {
    elasticIp: elasticIpFor({ site: undefined }),
    target: serverFor({ site: { ...one, slug: undefined } }),
    assigned: assignedServerFor({ site: two }),
  },
  'It is in another project of the same name': { target: serverFor({ project: { id: billing.id, name: 'Storefront' } }) },
}

const approved: MoveFacts = check().facts
const { from, ...rest } = approved
const hidden: MoveFacts = { ...rest, showsNoServer: true }
const bare: MoveFacts = { elasticIpId: approved.elasticIpId, to: approved.to }

/** What was read at the approval, and what is read before the write. */
const changed: Record<string, [before: MoveFacts, now: MoveFacts]> = {
  'Another server, address and project': [
    approved,
    { ...approved, from: { id: ids.web3, name: 'db-1' }, address: '203.0.113.99', project: { id: ids.billing, name: 'Billing' } },
  ],
  'A server and a project of equal names': [
    approved,
    { ...approved, from: { id: ids.web3, name: 'web-1' }, project: { id: ids.billing, name: 'Storefront' } },
  ],
  'A project with the same slug, which the preflight check lists': [
    approved,
    { ...approved, project: { id: ids.billing, name: 'Storefront', slug: 'storefront' } },
  ],
  'Other names of the same servers, another label of the site, the address with its prefix length': [
    approved,
    {
      ...approved,
      from: { id: ids.web1, name: 'web-1-renamed' },
      to: { id: ids.web2, name: 'web-two' },
      site: 'ASH2',
      address: '203.0.113.10/32',
    },
  ],
  'The server is shown again: the address is alive': [hidden, approved],
  'The server is no longer shown': [approved, hidden],
  'The server was never shown': [hidden, hidden],
  'Nothing is shown any more': [approved, bare],
  'Nothing was shown before': [bare, approved],
  'The target is off': [approved, { ...approved, toStatus: 'off' }],
  'The target was off at the request, too': [
    { ...approved, toStatus: 'off' },
    { ...approved, toStatus: 'deploying' },
  ],
  'The account does not know whether the target is on': [approved, { ...approved, toStatus: 'unknown' }],
}

test('why a move is refused, and why it is void after its approval, is in move.md', async () => {
  await expectDocument('move.md', 'Why a move is refused, and why it is void', [
    ...Object.entries(refused).map(([what, reads]): [string, string] => [`Refused? ${what}`, refusal(reads)]),
    ...Object.entries(changed).map(([what, [before, now]]): [string, string] => [
      `Void? ${what}`,
      moveDifferences(before, now)
        .map((finding) => moveWords(finding).why)
        .join('\n') || 'no',
    ]),
  ])
})

test('of a move while the account is away, earlier lists are shown with their age, and no rule and no write relies on them', async () => {
  const away = () => Promise.reject(new ApiUnreachableError({ operation: 'elasticIps.get', requestSent: 'no', problem: 'away' }))
  const [older, at] = [{ agoMs: 76_000 }, Date.parse('2026-11-20T10:00:00Z')]
  const account = { elasticIps: { get: away, list: away }, servers: { get: away, list: away } }
  const lists = {
    isShort: () => true,
    elasticIps: async () => ({ ...wholeList([elasticIpFor()]), readAt: at, old: older }),
    servers: async () => ({ ...wholeList([serverFor({ status: 'off' })]), readAt: at + 5_000, old: older }),
  }
  const change = moveChange({ account, lists } as never)
  const { facts, unchecked, incomplete } = await change.preflight(input, { forRequest: true })
  const shown = change.describe(facts)

  expect([phraseText(shown.title), change.subject(facts), change.target?.(facts).name]).toEqual([
    'Move 203.0.113.10: web-1 → web-2',
    address,
    'web-2',
  ])
  expect(shown.facts).toEqual([placeFact(approved.project, 'ASH'), { label: 'As of', value: [{ time: at }] }])
  expect([incomplete, unchecked.map(({ code }) => code)]).toEqual([true, ['elastic-ip-unread', 'server-unread']])
  expect(change.project?.(facts)).toBe('unknown')
  expect(moveDifferences(facts, approved)).toEqual([])
  expect(moveDifferences(facts, { ...approved, from: { id: ids.web3, name: 'db-1' } }).map(({ code }) => code)).toEqual(['server-changed'])
  expect(moveDifferences(facts, { ...approved, project: { id: ids.billing, name: 'Billing' } })).toHaveLength(1)
  expect(moveDifferences(facts, { ...approved, toStatus: 'off' }).map(({ code }) => code)).toEqual(['target-not-on'])
  expect(completeMove(facts, hidden)).toEqual(hidden)
  expect((await change.preflight(input, { forRequest: false })).facts.listed).toBeUndefined()
})

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

test('the old server is kept of an address that shows none any more', () => {
  const now = check({ elasticIp: elasticIpFor({ server: undefined }) }).facts

  expect(completeMove(approved, now)).toMatchObject({ from, showsNoServer: true })
  expect(completeMove(now, approved)).toEqual(approved)
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
