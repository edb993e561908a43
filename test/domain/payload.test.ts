import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGenuine, payloadHash } from '../../src/domain/payload.ts'
import { Request } from '../../src/domain/request.ts'

const asked = {
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
const hash = payloadHash(asked)

/** The same content with the names of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, turned(item)]),
  )
}

describe('the hash of what is asked for', () => {
  test('is SHA-256, and does not change between versions of this bot', () => {
    expect(hash).toMatchInlineSnapshot(`"b11e4beaba551f84fbf5c8f951f1750217a37b2e065c626ebdffdadda9ca9a54"`)
  })

  test('is the same for the same content in another order', () => {
    expect(payloadHash(turned(asked) as typeof asked)).toBe(hash)
  })

  test('is the same after a way through Redis, whatever the content', () => {
    const anyContent = fc.jsonValue({ noUnicodeString: false })
    fc.assert(
      fc.property(anyContent, anyContent, (input, facts) => {
        const whole = { ...asked, input, facts }

        expect(payloadHash(JSON.parse(JSON.stringify(turned(whole))))).toBe(payloadHash(whole))
      }),
    )
  })

  test.each([
    ['id', { id: 'a7e23ec29af22b0b4e41da31e868d572' }],
    ['kind', { kind: 'vm.rename' as const }],
    ['input', { input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_3Jio5EuO6zF64' } }],
    ['facts', { facts: { ...asked.facts, to: { id: 'sv_22mUQSvUfeqdv', hostname: 'web-3' } } }],
    ['a fact more', { facts: { ...asked.facts, note: null } }],
    ['resource', { resource: 'elastic_ip:eip_2VszvKL6sK72c' }],
    ['unchecked', { unchecked: [] }],
    ['warnings', { warnings: [{ code: 'server-locked', server: 'web-2' }] }],
    ['who asked', { origin: { ...asked.origin, userId: 'U2' } }],
    ['where', { origin: { ...asked.origin, channelId: 'C2' } }],
    ['in which workspace', { origin: { ...asked.origin, teamId: 'T2' } }],
    ['why', { reason: 'web-1 is being replaced.' }],
    ['no reason', { reason: undefined }],
  ])('is another when anything changes: %s', (_, change) => {
    expect(payloadHash({ ...asked, ...change } as typeof asked)).not.toBe(hash)
  })

  test('is another for a list in another order', () => {
    expect(payloadHash({ ...asked, unchecked: [{ code: 'a' }, { code: 'b' }] })).not.toBe(
      payloadHash({ ...asked, unchecked: [{ code: 'b' }, { code: 'a' }] }),
    )
  })

  test('is another for any other content', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fc.pre(sorted(one) !== sorted(other))

        expect(payloadHash({ ...asked, input: one })).not.toBe(payloadHash({ ...asked, input: other }))
      }),
    )
  })

  test('does not mix up content with its place', () => {
    expect(payloadHash({ ...asked, input: asked.facts, facts: asked.input } as unknown as typeof asked)).not.toBe(hash)
    expect(payloadHash({ ...asked, input: '1' } as unknown as typeof asked)).not.toBe(
      payloadHash({ ...asked, input: 1 } as unknown as typeof asked),
    )
    expect(payloadHash({ ...asked, input: {} } as unknown as typeof asked)).not.toBe(
      payloadHash({ ...asked, input: [] } as unknown as typeof asked),
    )
  })

  test('does not go by the command’s name, nor by what becomes of the request', () => {
    const record = {
      ...asked,
      origin: { ...asked.origin, command: '/nimbus' },
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
    ...asked,
    version: 1,
    rule: 'APPROVERS',
    ttlMs: 3_600_000,
    hash,
    state: 'waiting',
    revision: 1,
    needsApproval: true,
    createdAt: 1_000,
    expiresAt: 2_000,
  })

  test('is genuine as long as it is what was asked for', () => {
    expect(isGenuine(record)).toBe(true)
    expect(
      isGenuine({ ...record, state: 'tracking', revision: 5, approvals: [{ by: 'UBEN', rule: 'APPROVERS', via: 'UBEN', at: 1 }] }),
    ).toBe(true)
  })

  test.each([
    ['its input', { input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_9pQlU8W8G91sX' } }],
    ['what the card shows', { facts: {} }],
    ['who asked', { origin: { ...record.origin, userId: 'UEVE' } }],
    ['its hash', { hash: '' }],
    ['the case of its hash', { hash: hash.toUpperCase() }],
  ])('is not when somebody has changed %s', (_, change) => {
    expect(isGenuine({ ...record, ...change })).toBe(false)
  })
})

/** JSON text that is the same for the same content. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
