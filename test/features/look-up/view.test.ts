import type { KnownBlock } from '@slack/web-api'
import { expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../../src/account/objects.ts'
import type { Offer } from '../../../src/domain/change.ts'
import { lookedUpView, type ThingNow } from '../../../src/features/look-up.ts'
import { elasticIpFor } from '../../domain/account-objects.ts'
import { readableBlocks } from '../../messages/readable.ts'

const offers = [{ of: 'server' as const, label: 'Evacuate…', actionId: 'evacuate-this-server' }]
const place = { project: undefined, site: { id: undefined, name: undefined, slug: 'ASH' } }

function offersEvacuation(status: string, elasticIps: [] | undefined): boolean {
  const server: Server = { id: 'sv_1', hostname: 'web-1', label: undefined, primaryIpv4: undefined, status, locked: false, ...place }
  const now = { kind: 'server' as const, id: 'sv_1', is: 'server' as const, server, elasticIps }
  return JSON.stringify(viewOf(now, offers)).includes('Evacuate…')
}

function viewOf(now: ThingNow, offered: Offer[]) {
  const things = [{ now, requests: [], offers: offered, serverId: undefined }]
  return lookedUpView({ metadata: '{}', things, read: 1, left: 0, isIncomplete: false, old: undefined, unread: 0 })
}

function lookedUp(more: Partial<ElasticIp>): string {
  const elasticIp = elasticIpFor(more)
  const now: ThingNow = { kind: 'elastic-ip', id: elasticIp.id, is: 'elastic-ip', elasticIp, server: undefined }
  return readableBlocks(viewOf(now, [{ of: 'elastic-ip', label: 'Move…', actionId: 'move-this' }]).blocks as KnownBlock[])
}

test('a server that is on and has no Elastic IP has no button to evacuate it', () => {
  expect(offersEvacuation('on', [])).toBe(false)
})

test('a server that is off has the button, because the account may not show its addresses', () => {
  expect(offersEvacuation('off', [])).toBe(true)
  expect(offersEvacuation('on', undefined)).toBe(true)
})

test.each<[Partial<ElasticIp>, string]>([
  [{ status: 'releasing' }, '`203.0.113.10` has status `releasing`. Only active Elastic IPs can be moved.'],
  [{ status: 'moving' }, '`203.0.113.10` is already moving.'],
  ...[{ id: 'ueip_v9BVDaGvdRm1W' }, { mode: 'BGP' }].map((more): [Partial<ElasticIp>, string] => [
    more,
    "`203.0.113.10` is a BGP address: several servers can announce it, so it isn't moved. Close or open its BGP sessions in the dashboard.",
  ]),
])('an Elastic IP that cannot be moved has no button, and its line says why: %o', (more, why) => {
  expect(lookedUp(more)).toContain(why)
  expect(lookedUp(more)).not.toContain('Move…')
})

test('a BGP address is not said to be on a server or on none', () => {
  expect(lookedUp({ mode: 'bgp', server: undefined })).not.toContain('On no server')
})

test('an Elastic IP that is active, or whose status is not shown, has the button', () => {
  expect(lookedUp({})).toContain('Move…')
  expect(lookedUp({ status: 'unknown' })).toContain('Move…')
})
