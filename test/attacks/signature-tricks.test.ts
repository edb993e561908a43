import { describe, expect, test } from 'vitest'
import { payloadHash } from '../../src/domain/request.ts'
import { createRequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring } from '../../src/domain/signing.ts'
import { newRequestFor, requestFor } from '../given/request.ts'
import { secretsOf, signedBy } from '../given/signatures.ts'

const keys = 'a-key-for-tests-of-32-characters'
const signaturesWith = (given: string, prefix = 'lockkeeper') =>
  createRequestSignatures(createKeyring(secretsOf(given), { purpose: 'requests', prefix }))
const signatures = signaturesWith(keys)

const signed = requestFor({ ...signedBy(signatures, newRequestFor()) })
const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: signed.createdAt + 1 }
const approval = signatures.signApproval(signed, byBen)
const seen = { address: '203.0.113.10' }
const seenSignature = signatures.signSeen(signed, seen)
/** Values nested more deeply than the stack allows a recursion to follow. */
const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)

describe('somebody who can write to Redis gets no signature to fit another content', () => {
  test.each<[how: string, change: object]>([
    ['an input with one more member', { input: { ...(signed.input as object), more: null } }],
    ['a number as text', { createdAt: String(signed.createdAt) }],
    ['a list that is an object', { unchecked: {} }],
    ['nothing seen', { seen: null, seenSignature }],
    ['facts to 20,000 levels', { facts: deep }],
    ['a warning to 20,000 levels', { warnings: [{ code: 'x', deep }] }],
    ['what was seen to 20,000 levels', { seen: deep, seenSignature }],
    ['a signature cut short', { signature: signed.signature?.slice(0, -1) }],
    ['a signature that is a list', { signature: [signed.signature] }],
    ['a signature with a line after it', { signature: `${signed.signature}\n` }],
    ['the signature of an approval', { signature: approval.signature }],
    ['the signature of what was seen', { signature: seenSignature }],
    ['an empty signature', { signature: '' }],
  ])('by changing %s', (_, change) => {
    expect(signatures.verifyRecord({ ...signed, ...change } as typeof signed)).toBe('forged')
  })

  test('by adding what was seen without a signature', () => {
    expect(signatures.verifyRecord(signed)).toBe('genuine')
    for (const added of [seen, null]) expect(signatures.verifyRecord({ ...signed, seen: added })).toBe('unsigned')
  })

  test('by changing what is requested together with its hash', () => {
    const other = { ...signed, input: { elasticIpId: 'eip_1', serverId: 'sv_other' } }
    expect(signatures.verifyRecord({ ...other, hash: payloadHash(other) })).toBe('forged')
  })
})

test('a signature with the name of a key that the bot does not have is reported as that, and never genuine', () => {
  expect(signatures.verifyRecord({ ...signed, signature: `00000000${signed.signature?.slice(8)}` })).toBe('unknown-key')
  const both = signaturesWith(`${keys},another-key-of-32-characters-or-more`)
  const other = signaturesWith('another-key-of-32-characters-or-more')
  const { signature } = signedBy(other, newRequestFor({ id: signed.id, createdAt: signed.createdAt }))
  const idOfOurs = signed.signature?.slice(0, 8)
  expect(both.verifyRecord({ ...signed, signature: `${idOfOurs}${signature.slice(8)}` })).toBe('forged')
})

test('the signatures of a bot with the same key and another prefix are those of an unknown key', () => {
  for (const prefix of ['other', 'lockkeeper/requests', 'lockkeeper/', '']) {
    expect(signaturesWith(keys, prefix).verifyRecord(signed)).toBe('unknown-key')
  }
})
