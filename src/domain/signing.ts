import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'

/** Writes plain data as JSON with the names of objects in order, so that the same content is the same text. Leaves out what JSON leaves out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text && ','}${canonicalJson(item ?? null)}`
    return `[${text}]`
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members).sort())
    if (members[name] !== undefined) text += `${text && ','}${JSON.stringify(name)}:${canonicalJson(members[name])}`
  return `{${text}}`
}

/** Never prints its value. Only `reveal()` returns it, and a test names the few files that may call that. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[redacted]'
  }

  toJSON(): string {
    return '[redacted]'
  }

  [Symbol.toPrimitive](): string {
    return '[redacted]'
  }

  [inspect.custom](): string {
    return '[redacted]'
  }
}

/** What a keyring is for. A signature made for one purpose is worth nothing for another. */
export type Purpose = 'requests' | 'audit' | 'records'

/** `unknown-key`: it was signed with a key that this process does not have, so nobody can say whether it is genuine. `unsigned` has no signature. */
export type Verdict = 'genuine' | 'forged' | 'unknown-key' | 'unsigned'

interface Subkey {
  id: string
  /** Made once, because Node needs three times as long for an HMAC if it has to convert the bytes of a key each time. */
  key: KeyObject
}

/**
 * Signs and verifies what is stored in Redis, with HMAC-SHA-256. The first secret signs; all of them verify, so that a secret can be
 * replaced while two releases run side by side. Subkeys come from HKDF-SHA-256 (RFC 5869), and differ by purpose and by Redis prefix. A
 * signature is `<id of the key>.<base64url>`, so that an unknown key can be distinguished from a forgery.
 */
export function createKeyring(secrets: readonly [Secret, ...Secret[]], { purpose, prefix }: { purpose: Purpose; prefix: string }) {
  const subkeys = secrets.map((secret) => subkeyOf(secret, `lockkeeper/1/${prefix}/${purpose}`))
  const [signing] = subkeys as [Subkey, ...Subkey[]]

  function sign(content: unknown): string {
    return `${signing.id}.${macOf(signing, content).toString('base64url')}`
  }

  function verify(content: unknown, signature: unknown): Verdict {
    if (signature === undefined) return 'unsigned'
    const [, id, mac] = /^([0-9a-f]{8})\.([\w-]{43})$/.exec(typeof signature === 'string' ? signature : '') ?? []
    if (id === undefined || mac === undefined) return 'forged'
    const subkey = subkeys.find((each) => each.id === id)
    if (!subkey) return 'unknown-key'
    return orForged(() => (timingSafeEqual(macOf(subkey, content), Buffer.from(mac, 'base64url')) ? 'genuine' : 'forged'))
  }

  const keyId = signing.id

  function knows(id: string): boolean {
    return subkeys.some((each) => each.id === id)
  }

  /** Whether the key that signs now made a signature, so that it outlasts the removal of the others. */
  function isCurrent(signature: string): boolean {
    return signature.startsWith(`${signing.id}.`)
  }

  return { sign, verify, keyId, knows, isCurrent }
}
export type Keyring = ReturnType<typeof createKeyring>

/** Verifies content from Redis. What is nested too deeply for the stack cannot have been signed. */
export function orForged(verify: () => Verdict): Verdict {
  try {
    return verify()
  } catch (error) {
    if (error instanceof RangeError) return 'forged'
    throw error
  }
}

function subkeyOf(secret: Secret, info: string): Subkey {
  const key = Buffer.from(hkdfSync('sha256', secret.reveal(), '', info, 32))
  // The id distinguishes keys and reveals nothing about the key.
  return { key: createSecretKey(key), id: hash('sha256', Buffer.concat([Buffer.from('id of '), key])).slice(0, 8) }
}

function macOf({ key }: Subkey, content: unknown): Buffer {
  return createHmac('sha256', key).update(canonicalJson(content)).digest()
}
