import { describe, expect, test } from 'vitest'
import { type Decision, payloadHash, type Request } from '../../../src/domain/request.ts'
import { createRequestSignatures } from '../../../src/domain/request-signature.ts'
import { createKeyring } from '../../../src/domain/signing.ts'
import { requestedAt, requestFor } from '../../given/request.ts'
import { secretsOf } from '../../given/signatures.ts'

const keys = 'a-key-for-tests-of-32-characters'
const otherKey = 'another-key-of-32-characters-or-more'
const signaturesWith = (given: string, prefix = 'lockkeeper') =>
  createRequestSignatures(createKeyring(secretsOf(given), { purpose: 'requests', prefix }))
const signatures = signaturesWith(keys)

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
const { signature = '' } = signed

const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: requestedAt }
const approval = signatures.signApproval(signed, byBen)
const approved: Request = { ...signed, approvals: [approval] }
const decision = { ...signatures.signApproved(approved, { ...byBen, allOf: ['S0ONCALL01'] }), allOf: ['S0ONCALL01'] }
const alone = signatures.signBreakGlass(signed, { ...byBen, reason: 'all is down', breakGlass: true })
const seen = { address: '203.0.113.10' }
const sent: Request = { ...signed, seen, seenSignature: signatures.signSeen(signed, seen) }

/** Values nested more deeply than the stack allows a recursion to follow. */
const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
const elsewhere = { ...content, input: { elasticIpId: 'eip_1', serverId: 'sv_other' } }

/** What somebody who can write to Redis changes of a request. `hash`, `seen`: not its own signature covers it, but that. */
const changes: [what: string, change: object, by?: 'hash' | 'seen'][] = [
  ['version', { version: 2 }],
  ['id', { id: 'a7e23ec29af22b0b4e41da31e868d572' }],
  ['kind', { kind: 'vm.rename' }],
  ['input', { input: { elasticIpId: 'eip_2', serverId: 'sv_2' } }],
  ['input, together with its hash', { ...elsewhere, hash: payloadHash(elsewhere) }],
  ['input, with one more member', { input: { ...(signed.input as object), more: null } }],
  ['facts', { facts: { address: '203.0.113.99' } }],
  ['facts, to 20,000 levels', { facts: deep }],
  ['resource', { resource: 'elastic_ip:eip_9' }],
  ['moreResources', { moreResources: [] }],
  ['hash', { hash: '0'.repeat(64) }],
  ['rule', { rule: 'anybody' }],
  ['needsApproval', { needsApproval: false }],
  ['approvalsNeeded', { approvalsNeeded: 0 }],
  ['ttlMs', { ttlMs: 1 }],
  ['createdAt', { createdAt: requestedAt + 1 }],
  ['createdAt, as text', { createdAt: String(requestedAt) }],
  ['unchecked', { unchecked: [] }],
  ['unchecked, as an object', { unchecked: {} }],
  ['warnings', { warnings: [] }, 'hash'],
  ['warnings, to 20,000 levels', { warnings: [{ code: 'x', deep }] }, 'hash'],
  ['link', { link: 'https://elsewhere.example.com' }],
  ['reason', { reason: 'another one' }],
  ['undoes', { undoes: undefined }],
  ['repeats', { repeats: { ...ref, id: 'a third one' } }],
  ['fromMessage', { fromMessage: undefined }],
  ['alert', { alert: { name: 'all is well' } }],
  ['approverNames', { approverNames: '@everybody' }],
  ['personNames', { personNames: { U0BEN00001: 'Chiara' } }],
  ['parent', { parent: undefined }],
  ['otherRules', { otherRules: [] }],
  ['origin.userId', { origin: { ...requested.origin, userId: 'U0MAL00001' } }],
  ['origin.channelId', { origin: { ...requested.origin, channelId: 'C0EVIL0001' } }],
  ['origin.teamId', { origin: { ...requested.origin, teamId: 'T0EVIL0001' } }],
  ['seen, as nothing', { seen: null, seenSignature: sent.seenSignature }, 'seen'],
  ['seen, to 20,000 levels', { seen: deep, seenSignature: sent.seenSignature }, 'seen'],
  ['signature, cut short', { signature: signature.slice(0, -1) }],
  ['signature, as a list', { signature: [signature] }],
  ['signature, with a line after it', { signature: `${signature}\n` }],
  ['signature, as that of an approval', { signature: approval.signature }],
  ['signature, as that of what was seen', { signature: sent.seenSignature }],
  ['signature, as none', { signature: '' }],
]

describe('the signature of a request', () => {
  test('is genuine for what was requested, and does not stand for what was seen', () => {
    expect([signatures.verifyRequest(signed), signatures.verifyRecord(signed)]).toEqual(['genuine', 'genuine'])
    for (const added of [seen, null]) expect(signatures.verifyRecord({ ...signed, seen: added })).toBe('unsigned')
  })

  test.each(changes)('is forged with another %s', (_, change, by) => {
    const changed = { ...signed, ...change } as Request
    expect([signatures.verifyRecord(changed), signatures.verifyRequest(changed)]).toEqual(['forged', by ? 'genuine' : 'forged'])
  })

  test('with the name of a key that the bot does not have, or made for another prefix, is of an unknown key, and never genuine', () => {
    expect(signatures.verifyRecord({ ...signed, signature: `00000000${signature.slice(8)}` })).toBe('unknown-key')
    const byOther = signaturesWith(otherKey).signRequest(requested)
    expect(signaturesWith(`${keys},${otherKey}`).verifyRecord({ ...signed, signature: signature.slice(0, 8) + byOther.slice(8) })).toBe(
      'forged',
    )
    for (const prefix of ['other', 'lockkeeper/requests', 'lockkeeper/', ''])
      expect(signaturesWith(keys, prefix).verifyRecord(signed)).toBe('unknown-key')
  })
})

describe('the signatures of an approval, of a decision, of an emergency approval and of what was seen', () => {
  /** The verdict on each, of this request and with these changes. */
  const verdicts = (of: Partial<Request> = {}, more: object = {}) => [
    signatures.verifyApproval({ ...signed, ...of }, { ...approval, ...more }),
    signatures.verifyApproved({ ...approved, ...of }, { ...decision, ...more } as Decision),
    signatures.verifyBreakGlass({ ...signed, ...of }, { ...alone, ...more } as Decision),
    signatures.verifySeen({ ...sent, ...of }),
  ]
  const [genuine, forged] = ['genuine', 'forged']

  test.each<[what: string, of: Partial<Request>, more: object, expected: string[]]>([
    ['nothing', {}, {}, [genuine, genuine, genuine, genuine]],
    ['the id', { id: 'another' }, {}, [forged, forged, forged, forged]],
    ['the hash', { hash: '0'.repeat(64) }, {}, [forged, forged, forged, forged]],
    ['who gave it', {}, { by: 'U0MAL00001' }, [forged, forged, forged, genuine]],
    ['when it was given', {}, { at: requestedAt + 1 }, [forged, forged, forged, genuine]],
    // Which rule allowed a decision stands in the approvals.
    ['its rule', {}, { rule: 'anybody' }, [forged, genuine, forged, genuine]],
    ['through what somebody had the right', {}, { via: 'member' }, [forged, genuine, forged, genuine]],
    ['the approvals that were counted', { approvals: [] }, {}, [genuine, forged, genuine, genuine]],
    ['how often one was counted', { approvals: [approval, approval] }, {}, [genuine, forged, genuine, genuine]],
    ['who had to approve', {}, { allOf: [] }, [genuine, forged, genuine, genuine]],
    ['what was seen', { seen: { address: '203.0.113.99' } }, {}, [genuine, genuine, genuine, forged]],
    ['that it was signed', { seenSignature: undefined }, {}, [genuine, genuine, genuine, 'unsigned']],
  ])('with a change of %s', (_, of, more, expected) => {
    expect(verdicts(of, more)).toEqual(expected)
  })

  test('are forged with another reason, and worth nothing as another one', () => {
    expect(signatures.verifyBreakGlass(signed, { ...alone, reason: 'a test' })).toBe('forged')
    expect(verdicts({}, { signature: alone.signature }).slice(0, 2)).toEqual(['forged', 'forged'])
    expect(verdicts({}, { signature: approval.signature }).slice(1, 3)).toEqual(['forged', 'forged'])
  })
})
