import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

interface Given {
  origin: string
  rpId: string
}

/** What an attack changes of a ceremony. `flags`: 1 person present, 4 person verified. */
interface Altered extends Partial<Given> {
  flags?: number
  counter?: number
  type?: string
  crossOrigin?: boolean
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** CBOR of what WebAuthn needs: a byte string, and a text of less than 24 characters. */
const bytes = (data: Buffer) => Buffer.concat([Buffer.from([0x59, data.length >> 8, data.length & 0xff]), data])
const text = (data: string) => Buffer.concat([Buffer.from([0x60 + data.length]), Buffer.from(data)])

/** An authenticator in software with one passkey (ES256, no attestation), and the browser around it. */
export function createAuthenticator(given: Given) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const [xBytes, yBytes] = [x, y].map((one) => Buffer.concat([Buffer.from([0x58, 0x20]), Buffer.from(one, 'base64url')]))
  // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21])
  const cose = Buffer.concat([head, xBytes ?? head, Buffer.from([0x22]), yBytes ?? head])

  function clientData(type: string, challenge: string, { origin = given.origin, crossOrigin = false }: Altered): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  }

  function dataOf({ rpId = given.rpId, flags = 5, counter = 0 }: Altered, more: Buffer[] = []): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | (more.length > 0 ? 0x40 : 0)]), count, ...more])
  }

  return {
    id: id.toString('base64url'),
    publicKey: cose.toString('base64url'),

    create(challenge: string, altered: Altered = {}) {
      const { type = 'webauthn.create' } = altered
      const length = Buffer.from([0, id.length])
      const data = dataOf(altered, [randomBytes(16), length, id, cose])
      const object = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text('none'),
        text('attStmt'),
        Buffer.from([0xa0]),
        text('authData'),
        bytes(data),
      ])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: clientData(type, challenge, altered).toString('base64url'),
          attestationObject: object.toString('base64url'),
          transports: ['internal'],
        },
      }
    },

    get(challenge: string, altered: Altered = {}) {
      const { type = 'webauthn.get' } = altered
      const [client, data] = [clientData(type, challenge, altered), dataOf(altered)]
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
  }
}
export type Authenticator = ReturnType<typeof createAuthenticator>
