import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../../src/account/objects.ts'
import { CheckFailed } from '../../../src/domain/errors.ts'
import {
  addressesLeftOut,
  bgpAddressesFor,
  checkEvacuation,
  completeEvacuation,
  type EvacuationReads,
  evacuationDifferences,
  whatStays,
} from '../../../src/features/moves/evacuation.ts'
import { elasticIpFor, serverFor } from '../../domain/account-objects.ts'
import { requestedAt } from '../../given/request.ts'
import { seenOnWeb1 } from '../../given/seen.ts'
import { expectDocument } from '../../messages/documents.ts'

const hour = 3_600_000

const ip = (index: number, more: Partial<ElasticIp> = {}) =>
  elasticIpFor({ id: `eip_${index}`, address: `203.0.113.${index}`, server: { id: 'sv_1', hostname: 'web-1' }, ...more })
const server = (id: string, hostname: string, more: Partial<Server> = {}) => serverFor({ id, hostname, ...more })

const bgp = (index: number, more: Partial<ElasticIp> = {}) => ip(index, { id: `ueip_${index}`, server: undefined, ...more })
const frankfurt = { id: undefined, name: undefined, slug: 'FRA' }
const data = { id: 'proj_9', name: 'Data' }

function reads(more: Partial<EvacuationReads> = {}): EvacuationReads {
  const [source, target] = [server('sv_1', 'web-1'), server('sv_2', 'web-2')]
  return { all: [ip(1), ip(2)], single: new Map(), seen: [], source, target, ...more }
}

const input = { serverId: 'sv_1', targetId: 'sv_2' }
const some = (...ids: number[]) => ({ ...input, elasticIpIds: ids.map((id) => `eip_${id}`) })
const check = (more: Partial<EvacuationReads> = {}, of: typeof input & { elasticIpIds?: string[] } = input) =>
  checkEvacuation(of, reads(more), 'request')
const again = (more: Partial<EvacuationReads> = {}, of: typeof input & { elasticIpIds?: string[] } = some(1, 2)) =>
  checkEvacuation(of, reads(more), 'writes')

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof CheckFailed) return error.message
    throw error
  }
  throw new Error('it was not refused')
}

describe('the check of an evacuation', () => {
  test('makes a move of each address, and remembers their ids', () => {
    const { facts, input: asRead, unchecked, warnings } = check()

    expect(facts.items.map(({ elasticIpId, from, to }) => [elasticIpId, from?.name, to.name])).toEqual([
      ['eip_1', 'web-1', 'web-2'],
      ['eip_2', 'web-1', 'web-2'],
    ])
    expect(asRead).toEqual({ ...input, elasticIpIds: ['eip_1', 'eip_2'] })
    expect([unchecked, warnings]).toEqual([[], []])
  })

  const isOff = { status: 'error' }
  const elsewhere = { server: { id: 'sv_9', hostname: 'web-9' } }
  /** What the account shows of an evacuation that is refused, and what was asked for, if it is not all addresses. */
  const refused: Record<string, [Partial<EvacuationReads>, asked?: typeof input & { elasticIpIds?: string[] }]> = {
    'One is not active': [{ all: [ip(1), ip(2, isOff)] }],
    'Several cannot be moved, for two reasons': [{ all: [ip(1), ip(2, isOff), ip(3, isOff), ip(4, isOff), ip(5, { status: 'moving' })] }],
    'The target is in another site': [{ target: server('sv_2', 'web-2', { site: frankfurt }) }],
    'One is in another project': [{ all: [ip(1), ip(2, { project: data })] }],
    'One is in another project, and the target shows none': [
      { target: server('sv_2', 'web-2', { project: undefined }), all: [ip(1), ip(2, { project: data })] },
    ],
    'The server has no addresses': [{ all: [] }],
    'They are more than one message shows': [{ all: Array.from({ length: 51 }, (_, index) => ip(index)) }],
    'The target is the server itself': [{ target: server('sv_1', 'web-1') }, { serverId: 'sv_1', targetId: 'sv_1' }],
    'One was seen long ago': [{ all: [], seen: [seenOnWeb1(1, 2 * hour)], single: new Map([['eip_1', ip(1, { server: undefined })]]) }],
    'A chosen one was not seen there': [{ all: [], single: new Map([['eip_1', ip(1, { server: undefined })]]) }, some(1)],
    'A chosen one is on another server': [{ all: [ip(1)], single: new Map([['eip_2', ip(2, elsewhere)]]) }, some(1, 2)],
    'A chosen one is a BGP address': [
      { all: [ip(1)], single: new Map([['ueip_2', bgp(2)]]) },
      { ...input, elasticIpIds: ['eip_1', 'ueip_2'] },
    ],
  }
  test('refuses it with the words of evacuation.md', async () => {
    await expectDocument(
      'evacuation.md',
      'Why an evacuation of web-1 to web-2 is refused',
      Object.entries(refused).map(([what, [more, asked]]) => [what, refusal(() => check(more, asked))]),
    )
  })

  test('leaves out what the requester did not choose, with the reason', () => {
    const { facts, warnings = [] } = check({ all: [ip(1), ip(2, isOff), ip(3), ip(4)] }, some(1))

    expect(facts.items.map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
    expect(facts.leftOut.map(({ address, finding }) => [address, finding.code])).toEqual([
      ['203.0.113.2', 'not-active'],
      ['203.0.113.3', 'not-chosen'],
      ['203.0.113.4', 'not-chosen'],
    ])
    expect(warnings.map(({ code }) => code)).toEqual(['left-out'])
  })

  test('takes no addresses of other servers, and none without a server', () => {
    const { facts } = check({ all: [ip(1), ip(3, elsewhere), ip(4, { server: undefined })] })
    expect(facts.items.map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
  })

  test('takes what Lockkeeper saw there less than an hour ago, and says so', () => {
    const single = new Map([
      ['eip_1', ip(1, { server: undefined })],
      ['eip_2', ip(2, { server: { id: 'sv_9', hostname: 'web-9' } })],
    ])
    const { facts, warnings = [] } = check({
      all: [],
      source: undefined,
      single,
      seen: [seenOnWeb1(1, 12 * 60_000), seenOnWeb1(2, 60_000)],
    })

    expect(facts.items).toMatchObject([{ elasticIpId: 'eip_1', from: { id: 'sv_1', name: 'web-1' }, seenAgoMs: 12 * 60_000 }])
    expect(warnings[0]).toEqual({ code: 'last-seen', server: 'web-1', count: 1, oldest: requestedAt - 12 * 60_000 })
  })

  test('takes what was seen longer ago only if it was chosen', () => {
    const single = new Map([['eip_1', ip(1, { server: undefined })]])
    expect(check({ all: [], single, seen: [seenOnWeb1(1, 2 * hour)] }, some(1)).facts.items).toHaveLength(1)
  })

  test('names the state of the target once', () => {
    const { warnings } = check({ target: server('sv_2', 'web-2', { status: 'off', locked: true, deletedAt: hour }) })
    expect(warnings?.map(({ code }) => code)).toEqual(['server-not-on', 'server-deletion-scheduled', 'server-locked'])
  })
})

test('what stays on the server is counted once the moves are sent: what was left out, and what came later. Not after a move back', () => {
  const requested = check({ all: [ip(1), ip(2), ip(3, { status: 'error' })] }, some(1)).facts
  const sent = completeEvacuation(requested, again({ all: [ip(1), ip(2), ip(4)] }, some(1)).facts)
  expect(whatStays(requested, undefined)).toEqual({ words: undefined, count: 0 })
  expect(whatStays(sent, some(1)).count).toBe(3)
  expect(whatStays({ ...sent, isBack: true }, some(1)).count).toBe(0)
})

describe('before the writes', () => {
  const approved = check().facts

  test('an address that has left the server is left out, and one that came is not moved', () => {
    const now = again({
      all: [ip(1), ip(3)],
      single: new Map([['eip_2', ip(2, { server: { id: 'sv_9', hostname: 'web-9' } })]]),
    }).facts
    const facts = completeEvacuation(approved, now)

    expect([...addressesLeftOut(approved, facts)]).toEqual([['eip_2', [{ code: 'not-on-server', address: '203.0.113.2', now: 'web-9' }]]])
    expect(facts.came?.map(({ address }) => address)).toEqual(['203.0.113.3'])
    expect(evacuationDifferences(approved, now)).toEqual([])
  })

  test('an address that shows no server any more is still moved, and keeps the server that it was on', () => {
    const now = again({ all: [], single: new Map([1, 2].map((id) => [`eip_${id}`, ip(id, { server: undefined })])) }).facts
    expect(addressesLeftOut(approved, completeEvacuation(approved, now)).size).toBe(0)
    expect(completeEvacuation(approved, now).items[0]).toMatchObject({ from: { id: 'sv_1' }, showsNoServer: true })
  })

  test('an address that could not be read is neither left out nor counted as read', () => {
    const now = again({ all: [ip(1)] }).facts
    expect(addressesLeftOut(approved, now).size).toBe(0)
    expect(now.items.map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
  })

  test('the whole is void if nothing is left, or the target is in another project', () => {
    const gone = again({ all: [], single: new Map([1, 2].map((id) => [`eip_${id}`, 'gone' as const])) }).facts

    expect(evacuationDifferences(approved, gone).map(({ code }) => code)).toEqual(['nothing-left'])
    expect(evacuationDifferences(approved, { ...approved, project: data }).map(({ code }) => code)).toEqual(['project-changed'])
  })
})

describe('BGP addresses', () => {
  test('may be announced by a server of their project and site, or if one of these is not shown', () => {
    const all = [ip(1), bgp(2), bgp(3, { site: frankfurt }), bgp(4, { project: data }), bgp(5, { site: undefined }), ip(6, { mode: 'Bgp' })]

    expect(bgpAddressesFor(all, server('sv_1', 'web-1')).map(({ address }) => address)).toEqual([
      '203.0.113.2',
      '203.0.113.5',
      '203.0.113.6',
    ])
  })

  test('are kept in the facts and are no items, whatever server they show or were seen on', () => {
    const all = [ip(1), bgp(2), ip(3, { mode: 'bgp' })]
    const { facts, input: asRead } = check({ all, source: undefined })

    expect([facts.items.length, facts.leftOut, facts.bgp]).toEqual([1, [], ['203.0.113.2', '203.0.113.3']])
    expect(asRead?.elasticIpIds).toEqual(['eip_1'])
    const unlisted = { all: [bgp(2)], single: new Map([['ueip_2', bgp(2)]]), seen: [{ ...seenOnWeb1(2, 1), elasticIpId: 'ueip_2' }] }
    expect(refusal(() => check(unlisted))).toBe(
      'The account shows no Elastic IPs on web-1. Not moved: 203.0.113.2 (BGP). If web-1 announces it, close its session.',
    )
  })

  test('stop nothing if the list of them has changed before the writes, and the facts have the new one', () => {
    const approved = check({ all: [ip(1), ip(2), bgp(7)] }).facts
    const now = again({ all: [ip(1), ip(2), bgp(8)] }).facts

    expect(evacuationDifferences(approved, now)).toEqual([])
    expect(addressesLeftOut(approved, now).size).toBe(0)
    expect(completeEvacuation(approved, now)).toMatchObject({ bgp: ['203.0.113.8'], came: [] })
  })

  test('keep an address from being sent that was routed when it was approved', () => {
    const approved = check().facts
    const now = again({ all: [ip(1), ip(2, { mode: 'bgp' })] }).facts

    expect([...addressesLeftOut(approved, now)]).toEqual([['eip_2', [{ code: 'bgp-address', address: '203.0.113.2' }]]])
  })
})
