import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGenuine, payloadHash, Request } from '../../../src/domain/request.ts'

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

/** Returns the same content with the members of every object in reverse order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, turned(item)]),
  )
}

describe('the hash of a request', () => {
  test('is SHA-256, and does not change between versions of Lockkeeper', () => {
    expect(hash).toMatchInlineSnapshot(`"b11e4beaba551f84fbf5c8f951f1750217a37b2e065c626ebdffdadda9ca9a54"`)
  })

  test('is the same for the same content in another order', () => {
    expect(payloadHash(turned(requested) as typeof requested)).toBe(hash)
  })

  test('is the same after any content was stored in Redis', () => {
    const anyContent = fc.jsonValue({ noUnicodeString: false })
    fc.assert(
      fc.property(anyContent, anyContent, (input, facts) => {
        const whole = { ...requested, input, facts }

        expect(payloadHash(JSON.parse(JSON.stringify(turned(whole))))).toBe(payloadHash(whole))
      }),
    )
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
  ])('differs after any change: %s', (_, change) => {
    expect(payloadHash({ ...requested, ...change } as typeof requested)).not.toBe(hash)
  })

  test('differs for a list in another order', () => {
    expect(payloadHash({ ...requested, unchecked: [{ code: 'a' }, { code: 'b' }] })).not.toBe(
      payloadHash({ ...requested, unchecked: [{ code: 'b' }, { code: 'a' }] }),
    )
  })

  test('differs for any other content', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fc.pre(sorted(one) !== sorted(other))

        expect(payloadHash({ ...requested, input: one })).not.toBe(payloadHash({ ...requested, input: other }))
      }),
    )
  })

  test('differs if the same value is in another member', () => {
    expect(payloadHash({ ...requested, input: requested.facts, facts: requested.input } as unknown as typeof requested)).not.toBe(hash)
    expect(payloadHash({ ...requested, input: '1' } as unknown as typeof requested)).not.toBe(
      payloadHash({ ...requested, input: 1 } as unknown as typeof requested),
    )
    expect(payloadHash({ ...requested, input: {} } as unknown as typeof requested)).not.toBe(
      payloadHash({ ...requested, input: [] } as unknown as typeof requested),
    )
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

describe('a record', () => {
  const record = Request.parse({
    ...requested,
    version: 1,
    rule: 'APPROVERS',
    approvalsNeeded: 1,
    ttlMs: 3_600_000,
    hash,
    state: 'waiting',
    revision: 1,
    needsApproval: true,
    createdAt: 1_000,
    expiresAt: 2_000,
  })

  test('is genuine as long as it fits its hash', () => {
    expect(isGenuine(record)).toBe(true)
    expect(
      isGenuine({ ...record, state: 'tracking', revision: 5, approvals: [{ by: 'UBEN', rule: 'APPROVERS', via: 'UBEN', at: 1 }] }),
    ).toBe(true)
  })

  test.each([
    ['its input', { input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_9pQlU8W8G91sX' } }],
    ['what the card shows', { facts: {} }],
    ['the requester', { origin: { ...record.origin, userId: 'UEVE' } }],
    ['its hash', { hash: '' }],
    ['the case of its hash', { hash: hash.toUpperCase() }],
  ])('is not genuine after a change of %s', (_, change) => {
    expect(isGenuine({ ...record, ...change })).toBe(false)
  })
})

/** Writes JSON that is equal for equal contents. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
