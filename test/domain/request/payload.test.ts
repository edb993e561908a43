import { describe, expect, test } from 'vitest'
import { payloadHash } from '../../../src/domain/request.ts'

const requested = {
  id: 'b7e23ec29af22b0b4e41da31e868d572',
  kind: 'ip.move' as const,
  input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_22mUQSvUfeqdv' },
  facts: {
    address: '203.0.113.10',
    from: { id: 'sv_1WFgWmkF9Mzju', hostname: 'web-1' },
    to: { id: 'sv_22mUQSvUfeqdv', hostname: 'web-2' },
  },
  resource: 'elastic_ip:eip_1GijF7NsZe3bN',
  unchecked: [{ code: 'site-not-compared', server: 'web-2' }],
  origin: { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' },
  reason: 'web-1 is being replaced',
}
const hash = payloadHash(requested)

describe('the hash of a request', () => {
  test('is SHA-256, and does not change between versions of Lockkeeper', () => {
    expect(hash).toMatchInlineSnapshot(`"b11e4beaba551f84fbf5c8f951f1750217a37b2e065c626ebdffdadda9ca9a54"`)
  })

  test.each([
    ['id', { id: 'a7e23ec29af22b0b4e41da31e868d572' }],
    ['kind', { kind: 'vm.rename' as const }],
    ['input', { input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_3Jio5EuO6zF64' } }],
    ['facts', { facts: { ...requested.facts, to: { id: 'sv_22mUQSvUfeqdv', hostname: 'web-3' } } }],
    ['another fact', { facts: { ...requested.facts, note: null } }],
    ['resource', { resource: 'elastic_ip:eip_2VszvKL6sK72c' }],
    ['unchecked', { unchecked: [] }],
    ['warnings', { warnings: [{ code: 'server-locked', server: 'web-2' }] }],
    ['the message that it was requested from', { fromMessage: { channelId: 'C1', ts: '1795010400.000100' } }],
    ['the requester', { origin: { ...requested.origin, userId: 'U2' } }],
    ['the channel', { origin: { ...requested.origin, channelId: 'C2' } }],
    ['the workspace', { origin: { ...requested.origin, teamId: 'T2' } }],
    ['the reason', { reason: 'web-1 is being replaced.' }],
    ['no reason', { reason: undefined }],
    ['input and facts exchanged', { input: requested.facts, facts: requested.input }],
  ])('differs after any change: %s', (_, change) => {
    expect(payloadHash({ ...requested, ...change } as unknown as typeof requested)).not.toBe(hash)
  })

  test('does not depend on the name of the command or on the outcome of the request', () => {
    const record = {
      ...requested,
      origin: { ...requested.origin, command: '/nimbus' },
      state: 'done',
      revision: 9,
      seen: {},
      causes: [{ code: 'x' }],
    }
    expect(payloadHash(record)).toBe(hash)
  })
})
