import { hash } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import type { Request } from '../../domain/request.ts'
import { canonicalJson } from '../../domain/signing.ts'
import type { ConfirmedAct } from '../../rights/confirmation.ts'
import type { Passkey } from './record.ts'

// The library is loaded at the first ceremony or verification: most installations never need it.

/** The audit cuts longer texts. Browsers send about 300 characters. */
const part = z.string().min(1).max(1_000)

/** What the browser says of an assertion. Everything else that it sends proves nothing. */
export const Assertion = z.object({
  id: part,
  response: z.object({ clientDataJSON: part, authenticatorData: part, signature: part }),
})
export type Assertion = z.infer<typeof Assertion>

/** What an approval keeps of it, and of what it is for. */
export const Proof = z.object({ link: part, credential: part, clientDataJSON: part, authenticatorData: part, signature: part })
export type Proof = z.infer<typeof Proof>

export function proofOf(link: string, { id, response }: Assertion): Proof {
  return { link, credential: id, ...response }
}

/** What is signed: this act on exactly this request, by this person, by this link. It follows from the record, so nobody chooses it. */
export function challengeOf(request: Pick<Request, 'id' | 'hash'>, { to, by, reason }: ConfirmedAct, link: string): string {
  return digest({ act: to, requestId: request.id, hash: request.hash, by, reason, link })
}

export function challengeToAdd(by: string, link: string): string {
  return digest({ act: 'passkey.add', by, link })
}

function digest(content: object): string {
  return hash('sha256', canonicalJson({ signed: 'passkey', ...content }), 'base64url')
}

/** The relying party: what a browser keeps passkeys for, and an assertion names. */
export function partyOf({ config }: Pick<App, 'config'>): { origin: string; rpId: string } {
  const { origin, hostname } = config.publicUrl ?? new URL('https://nowhere.invalid')
  return { origin, rpId: hostname }
}

/**
 * Verifies an assertion: its signature, the challenge, the origin, the RP id, and that the person was verified. `counter`: the count that it has
 * to exceed, which is compared at the ceremony only. Returns its own count, or undefined if anything is wrong.
 */
export async function verifyAssertion(
  app: Pick<App, 'config'>,
  { id, publicKey }: Passkey,
  challenge: string,
  { clientDataJSON, authenticatorData, signature }: Omit<Proof, 'link' | 'credential'>,
  counter = 0,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { origin, rpId } = partyOf(app)
  const response = { clientDataJSON, authenticatorData, signature }
  const verifying = verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter },
    requireUserVerification: true,
  })
  // The library throws at whatever does not fit.
  const result = await verifying.catch(() => undefined)
  return result?.verified && !isInOtherPage(clientDataJSON) ? result.authenticationInfo.newCounter : undefined
}

/** Verifies what the browser says of a new passkey. Undefined if anything is wrong. */
export async function verifyNew(
  app: Pick<App, 'config'>,
  challenge: string,
  sent: unknown,
): Promise<Omit<Passkey, 'by' | 'name' | 'addedAt'> | undefined> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const { origin, rpId } = partyOf(app)
  const read = NewPasskey.safeParse(sent)
  if (!read.success) return undefined
  const { id, response } = read.data
  try {
    // None was asked for, and a chain of certificates would make this process read addresses that a stranger chose.
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
    if (!['none', 'packed'].includes(attestation.get('fmt')) || attestation.get('attStmt').get('x5c') !== undefined) return undefined
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: { ...response, transports: [] } },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified || isInOtherPage(response.clientDataJSON)) return undefined
    const { credential } = registrationInfo
    if (credential.id !== id) return undefined
    return {
      id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: response.transports,
    }
  } catch {
    return undefined
  }
}

/** EdDSA, ES256 and RS256, by their numbers in COSE. */
export const algorithms = [-8, -7, -257]

const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

const NewPasskey = z.object({
  id: part,
  response: z.object({
    clientDataJSON: part,
    attestationObject: z.string().min(1).max(8_000),
    transports: z
      .array(z.string())
      .max(20)
      .default([])
      .transform((given) => transports.filter((each) => given.includes(each))),
  }),
})

/** Our page is in no frame, so a ceremony in one was another page's. The library only compares the page around it, which some browsers do not name. */
function isInOtherPage(clientDataJSON: string): boolean {
  return JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin === true
}
