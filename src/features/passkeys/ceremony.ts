import { hash } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import type { Request } from '../../domain/request.ts'
import { canonicalJson } from '../../domain/signing.ts'
import type { ConfirmedAct } from '../../rights/confirmation.ts'
import { type Found, type Passkey, passkeysOf } from './record.ts'

// The library is loaded at the first ceremony or verification: most installations never need it.

/** The audit cuts longer texts. Browsers send about 300 characters. */
const part = z.string().min(1).max(1_000)

/** What the browser says of an assertion. Everything else that it sends proves nothing. */
export const Assertion = z.object({
  id: part,
  response: z.object({ clientDataJSON: part, authenticatorData: part, signature: part }),
})
export type Assertion = z.infer<typeof Assertion>

/** What an approval keeps: the assertion, and the link that it was for. */
export const Proof = z.object({ link: part, credential: part, clientDataJSON: part, authenticatorData: part, signature: part })
export type Proof = z.infer<typeof Proof>

export function proofOf(link: string, { id, response }: Assertion): Proof {
  return { link, credential: id, ...response }
}

/** What is signed: this act on exactly this request, by this person, by this link. All of it comes from records, so nobody can choose it. */
export function challengeOf(
  request: Pick<Request, 'id' | 'hash' | 'createdAt'>,
  { to, by, reason, passed }: ConfirmedAct,
  link: string,
): string {
  return digest({ act: to, requestId: request.id, hash: request.hash, createdAt: request.createdAt, by, reason, passed, link })
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

/** The passkeys of a person that work at this host. Browsers offer no others. */
export function usableOf(app: Pick<App, 'config'>, found: Pick<Found, 'passkeys'>, userId: string): Passkey[] {
  return passkeysOf(found, userId).filter(({ rpId }) => rpId === partyOf(app).rpId)
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
  // The library throws an error if anything doesn't fit.
  const result = await verifying.catch(() => undefined)
  return result?.verified && !isInOtherPage(clientDataJSON) ? result.authenticationInfo.newCounter : undefined
}

const transports = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

/** What the browser says of a new passkey. */
export const NewPasskey = z.object({
  id: part,
  response: z.object({ clientDataJSON: part, attestationObject: z.string().max(8_000), transports: z.array(transports).max(20).catch([]) }),
})

/** EdDSA, ES256 and RS256, by their numbers in COSE. */
export const algorithms = [-8, -7, -257]

/** Throws if anything is wrong. */
export async function verifyNew(app: Pick<App, 'config'>, challenge: string, { id, response }: z.infer<typeof NewPasskey>) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const { origin, rpId } = partyOf(app)
  // No attestation was asked for, and a chain of certificates would make this process request addresses that a stranger chose.
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
  if (!['none', 'packed'].includes(attestation.get('fmt')) || attestation.get('attStmt').get('x5c')) throw new Error('an attestation')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: { ...response, transports: [] } },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  })
  const { publicKey, counter, id: signedId } = registrationInfo?.credential ?? {}
  if (!verified || !publicKey || signedId !== id || isInOtherPage(response.clientDataJSON)) throw new Error('not as it was asked for')
  return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter: counter ?? 0, transports: response.transports, rpId }
}

/** Our page is never in a frame, so a ceremony in one belongs to another page. The library only compares the outer page, which some browsers leave out. */
function isInOtherPage(clientDataJSON: string): boolean {
  return JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin === true
}
