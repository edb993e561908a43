import type { KnownBlock } from '@slack/web-api'
import { expect, test } from 'vitest'
import type { ElasticIp } from '../../../src/account/objects.ts'
import { elasticIpThing, lookedUpView } from '../../../src/features/look-up.ts'
import { elasticIpFor } from '../../domain/account-objects.ts'
import { readableBlocks } from '../../messages/readable.ts'

function lookedUp(more: Partial<ElasticIp>): string {
  const thing = elasticIpThing(elasticIpFor(more), undefined)
  const offers = [{ of: 'elastic-ip' as const, kind: 'ip.move', label: 'Move…', actionId: 'move-this' }]
  const view = lookedUpView('{}', [{ thing, history: [], offers }], 0, { isIncomplete: false, old: undefined })
  return readableBlocks(view.blocks as KnownBlock[])
}

test.each<[Partial<ElasticIp>, string]>([
  [{ status: 'releasing' }, '`203.0.113.10` has status releasing, not active.'],
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
