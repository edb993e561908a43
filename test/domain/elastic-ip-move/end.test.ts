import { expect, test } from 'vitest'
import type { Server } from '../../../src/account/objects.ts'
import { moveChange } from '../../../src/moves/move-change.ts'
import { elasticIpFor, ids, serverFor } from '../account-objects.ts'

const input = { elasticIpId: ids.elasticIp, serverId: ids.web2 }
const facts = { elasticIpId: ids.elasticIp, address: '203.0.113.10', to: { id: ids.web2, name: 'web-2' } }
const moment = { phase: 'accepted' as const, sinceSentMs: 60_000, early: false, isUnsettled: false }

/** Observes the end of a move to a server with this status when it was sent. `now`: the server at the end. */
function observeEnd(toStatus: string | undefined, now: () => Promise<Server>) {
  const moved = elasticIpFor({ server: { id: ids.web2, hostname: 'web-2' } })
  const change = moveChange({ account: { elasticIps: { get: async () => moved }, servers: { get: now } } } as never)
  return change.observe(input, { ...facts, ...(toStatus ? { toStatus } : {}) }, moment, { signal: AbortSignal.timeout(1_000) })
}

const away = () => Promise.reject(new Error('away'))
const unread = () => expect.fail('the server was read')

test.each<[string, string | undefined, () => Promise<Server>, object[] | undefined]>([
  [
    'a server that was off and still is says so',
    'off',
    async () => serverFor({ status: 'off' }),
    [{ code: 'assigned-to-server-not-on', server: 'web-2', status: 'off' }],
  ],
  ['a server that is on by then says nothing more', 'deploying', async () => serverFor(), []],
  [
    'a server that cannot be read any more says how it was before',
    'off',
    away,
    [{ code: 'server-was-not-on', server: 'web-2', status: 'off' }],
  ],
  ['a server that was on costs no further read', undefined, unread, undefined],
])('the end of a move to %s', async (_, toStatus, now, notes) => {
  expect(await observeEnd(toStatus, now)).toEqual({ is: 'done', notes })
})
