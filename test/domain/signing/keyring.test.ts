import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyring, Secret } from '../../../src/domain/signing.ts'

const [old, fresh] = [new Secret('old-secret-of-at-least-32-characters'), new Secret('new-secret-of-at-least-32-characters')]
const forRequests = { purpose: 'requests', prefix: 'lockkeeper' } as const
const content = { id: 'r1', approvals: [{ by: 'U0BEN00001' }] }

describe('a signature', () => {
  test('is genuine for the same content, in whatever order its members come', () => {
    const keyring = createKeyring([old], forRequests)
    expect(keyring.verify({ approvals: [{ by: 'U0BEN00001' }], id: 'r1' }, keyring.sign(content))).toBe('genuine')
  })

  test('is forged for any other content, and if it is no signature', () => {
    const keyring = createKeyring([old], forRequests)
    const signature = keyring.sign(content)
    fc.assert(
      fc.property(fc.jsonValue(), (other) => {
        expect(keyring.verify(other, signature)).toBe('forged')
      }),
    )
    for (const odd of ['', 'x', `${signature}x`, signature.slice(1), 7, null, {}]) expect(keyring.verify(content, odd)).toBe('forged')
    expect(keyring.verify(content, undefined)).toBe('unsigned')
  })

  test('is forged if one character of it is another', () => {
    const keyring = createKeyring([old], forRequests)
    const signature = keyring.sign(content)
    // The last of 43 base64url characters holds two unused bits.
    for (let at = 9; at < signature.length - 1; at += 1) {
      const changed = `${signature.slice(0, at)}${signature[at] === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`
      expect(keyring.verify(content, changed)).toBe('forged')
    }
  })

  test('names its key, so that an unknown key is not taken for a forgery', () => {
    const signature = createKeyring([old], forRequests).sign(content)
    expect(createKeyring([fresh], forRequests).verify(content, signature)).toBe('unknown-key')
    expect(createKeyring([fresh, old], forRequests).verify(content, signature)).toBe('genuine')
    expect(createKeyring([fresh, old], forRequests).verify({ ...content, id: 'r2' }, signature)).toBe('forged')
  })

  test('is made with the first secret, and verified with all', () => {
    const before = createKeyring([old, fresh], forRequests)
    const after = createKeyring([fresh, old], forRequests)
    expect(after.verify(content, before.sign(content))).toBe('genuine')
    expect(before.verify(content, after.sign(content))).toBe('genuine')
    expect(createKeyring([old], forRequests).verify(content, after.sign(content))).toBe('unknown-key')
  })

  test('is worth nothing for another purpose, and for a bot with another Redis prefix', () => {
    const signature = createKeyring([old], forRequests).sign(content)
    for (const other of [
      { ...forRequests, purpose: 'audit' as const },
      { ...forRequests, prefix: 'another' },
    ]) {
      expect(createKeyring([old], other).verify(content, signature)).toBe('unknown-key')
    }
  })

  test('shows nothing of the secret', () => {
    expect(createKeyring([old], forRequests).sign(content)).not.toContain(old.reveal())
  })
})
