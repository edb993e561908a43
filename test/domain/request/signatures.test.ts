import { describe, expect, test } from 'vitest'
import { type Decision, payloadHash, type Request } from '../../../src/domain/request.ts'
import { requestedAt, requestFor } from '../../given/request.ts'
import { signatures } from '../../given/signatures.ts'

const ref = { id: 'another', channelId: 'C0OPS00001', cardTs: '1795010400.000100' }
const content = requestFor({
  reason: 'web-1 is being replaced',
  unchecked: [{ code: 'site-not-compared' }],
  warnings: [{ code: 'server-locked' }],
  moreResources: ['elastic_ip:eip_2'],
  approverNames: '@on-call',
  personNames: { U0BEN00001: 'Ben' },
  undoes: ref,
  repeats: ref,
  fromMessage: { channelId: 'C0OPS00001', ts: '1795010400.000100' },
  alert: { name: 'server down' },
  link: 'https://ci.example.com/jobs/42',
  parent: { id: 'a parent', kind: 'ip.evacuate' },
  otherRules: [{ name: 'moves', approvals: 2 }],
})
const requested = { ...content, hash: payloadHash(content) }
const signed: Request = { ...requested, signature: signatures.signRequest(requested) }

describe('the signature of a request', () => {
  test('is genuine for what was requested', () => {
    expect(signatures.verifyRequest(signed)).toBe('genuine')
  })

  test.each<[string, Partial<Request>]>([
    ['version', { version: 2 }],
    ['id', { id: 'a7e23ec29af22b0b4e41da31e868d572' }],
    ['kind', { kind: 'vm.rename' }],
    ['input', { input: { elasticIpId: 'eip_2', serverId: 'sv_2' } }],
    ['facts', { facts: { address: '203.0.113.99' } }],
    ['resource', { resource: 'elastic_ip:eip_9' }],
    ['moreResources', { moreResources: [] }],
    ['hash', { hash: '0'.repeat(64) }],
    ['rule', { rule: 'anybody' }],
    ['needsApproval', { needsApproval: false }],
    ['approvalsNeeded', { approvalsNeeded: 0 }],
    ['ttlMs', { ttlMs: 1 }],
    ['createdAt', { createdAt: requestedAt + 1 }],
    ['unchecked', { unchecked: [] }],
    ['reason', { reason: 'another one' }],
    ['undoes', { undoes: undefined }],
    ['repeats', { repeats: { ...ref, id: 'a third one' } }],
    ['fromMessage', { fromMessage: undefined }],
    ['alert', { alert: { name: 'all is well' } }],
    ['approverNames', { approverNames: '@everybody' }],
    ['personNames', { personNames: { U0BEN00001: 'Chiara' } }],
    ['parent', { parent: undefined }],
    ['otherRules', { otherRules: [] }],
    ['userId', { origin: { ...requested.origin, userId: 'U0MAL00001' } }],
    ['channelId', { origin: { ...requested.origin, channelId: 'C0EVIL0001' } }],
    ['teamId', { origin: { ...requested.origin, teamId: 'T0EVIL0001' } }],
  ])('is forged for another %s', (_, change) => {
    expect(signatures.verifyRequest({ ...signed, ...change })).toBe('forged')
  })

  test('covers the warnings by the hash', () => {
    expect(signatures.verifyRecord(signed)).toBe('genuine')
    expect(signatures.verifyRecord({ ...signed, warnings: [] })).toBe('forged')
    expect(signatures.verifyRecord({ ...signed, link: 'https://elsewhere.example.com' })).toBe('forged')
  })
})

const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: requestedAt }
const approval = signatures.signApproval(signed, byBen)
const approved: Request = { ...signed, approvals: [approval] }
const decision = { ...signatures.signApproved(approved, { ...byBen, allOf: ['S0ONCALL01'] }), allOf: ['S0ONCALL01'] }
const alone = signatures.signBreakGlass(signed, { ...byBen, reason: 'all is down', breakGlass: true })
const others = [
  ['by', { by: 'U0MAL00001' }],
  ['at', { at: requestedAt + 1 }],
] as const
const othersOfGrant = [...others, ['rule', { rule: 'anybody' }], ['via', { via: 'member' }]] as const
const otherRequests = [
  ['id', { id: 'another' }],
  ['hash', { hash: '0'.repeat(64) }],
] as const

describe('the signature of an approval, of a decision and of an emergency approval', () => {
  test('is genuine for what was decided', () => {
    const verdicts = [
      signatures.verifyApproval(signed, approval),
      signatures.verifyApproved(approved, decision),
      signatures.verifyBreakGlass(signed, alone),
    ]
    expect(verdicts).toEqual(['genuine', 'genuine', 'genuine'])
  })

  test.each(othersOfGrant)('is forged for another %s', (name, change) => {
    expect(signatures.verifyApproval(signed, { ...approval, ...change })).toBe('forged')
    expect(signatures.verifyBreakGlass(signed, { ...alone, ...change } as Decision)).toBe('forged')
    // Which rule allowed it stands in the approvals.
    if (name === 'by' || name === 'at') expect(signatures.verifyApproved(approved, { ...decision, ...change } as Decision)).toBe('forged')
  })

  test.each(otherRequests)('is forged for a request with another %s', (_, change) => {
    expect(signatures.verifyApproval({ ...signed, ...change }, approval)).toBe('forged')
    expect(signatures.verifyApproved({ ...approved, ...change }, decision)).toBe('forged')
    expect(signatures.verifyBreakGlass({ ...signed, ...change }, alone)).toBe('forged')
  })

  test('is forged for other approvals, for other required people, and for another reason', () => {
    expect(signatures.verifyApproved({ ...approved, approvals: [] }, decision)).toBe('forged')
    expect(signatures.verifyApproved({ ...approved, approvals: [approval, approval] }, decision)).toBe('forged')
    expect(signatures.verifyApproved(approved, { ...decision, allOf: [] })).toBe('forged')
    expect(signatures.verifyBreakGlass(signed, { ...alone, reason: 'a test' })).toBe('forged')
  })

  test('is worth nothing as another one', () => {
    expect(signatures.verifyApproval(signed, { ...approval, signature: alone.signature })).toBe('forged')
    expect(signatures.verifyBreakGlass(signed, { ...alone, signature: approval.signature })).toBe('forged')
    expect(signatures.verifyApproved(approved, { ...decision, signature: approval.signature })).toBe('forged')
  })
})

describe('the signature of what was seen before the write', () => {
  const seen = { address: '203.0.113.10' }
  const sent: Request = { ...signed, seen, seenSignature: signatures.signSeen(signed, seen) }

  test('is genuine for what was seen, and forged for anything else', () => {
    expect(signatures.verifySeen(sent)).toBe('genuine')
    expect(signatures.verifySeen({ ...sent, seen: { address: '203.0.113.99' } })).toBe('forged')
    for (const [, change] of otherRequests) expect(signatures.verifySeen({ ...sent, ...change })).toBe('forged')
    expect(signatures.verifySeen({ ...sent, seenSignature: undefined })).toBe('unsigned')
  })
})
