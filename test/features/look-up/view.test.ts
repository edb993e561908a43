import { expect, test } from 'vitest'
import type { Server } from '../../../src/domain/account/server.ts'
import { lookedUpView } from '../../../src/features/look-up/view.ts'

const offers = [{ of: 'server' as const, label: 'Evacuate…', actionId: 'evacuate-this-server' }]
const place = { project: undefined, site: { id: undefined, name: undefined, slug: 'ASH' } }

function offersEvacuation(status: string, elasticIps: [] | undefined): boolean {
  const server: Server = { id: 'sv_1', hostname: 'web-1', label: undefined, primaryIpv4: undefined, status, locked: false, ...place }
  const now = { kind: 'server' as const, id: 'sv_1', is: 'server' as const, server, elasticIps }
  const view = lookedUpView({
    metadata: '{}',
    things: [{ now, requests: [], offers, serverId: undefined }],
    read: 1,
    left: 0,
    notFound: [],
    isIncomplete: false,
    unread: 0,
  })
  return JSON.stringify(view).includes('Evacuate…')
}

test('a server that is on and has no Elastic IP has no button to evacuate it', () => {
  expect(offersEvacuation('on', [])).toBe(false)
})

test('a server that is off has the button, because the account may not show its addresses', () => {
  expect(offersEvacuation('off', [])).toBe(true)
  expect(offersEvacuation('on', undefined)).toBe(true)
})
