import { type Approval, type Request, requestVersion } from '../../src/domain/request.ts'
import { createRequestSignatures, type RequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring, type Keyring, Secret } from '../../src/domain/signing.ts'
import type { NewRequest } from '../../src/record/store.ts'

/** The keys and signatures of a test without a bot. */
export const recordKeyring = createKeyring([new Secret('a-key-for-tests-of-32-characters')], { purpose: 'records', prefix: 'lockkeeper' })
const requestKeyring = createKeyring([new Secret('a-key-for-tests-of-32-characters')], { purpose: 'requests', prefix: 'lockkeeper' })
export const signatures = createRequestSignatures(requestKeyring)

/** Returns the signatures of a bot with these variables. Without STATE_KEY its key comes from INFRA_API_KEY. */
export function signaturesOfBot(variables: { INFRA_API_KEY: string; REDIS_PREFIX: string; STATE_KEY?: string }): RequestSignatures {
  return createRequestSignatures(keyringOfBot(variables))
}

/** Returns the keys with which a bot signs, separated by commas. */
export function keysOfBot({ STATE_KEY, INFRA_API_KEY }: { INFRA_API_KEY: string; STATE_KEY?: string }): string {
  return STATE_KEY ?? INFRA_API_KEY
}

/** Returns the keyring with which that bot signs requests, or what else it keeps in Redis. */
export function keyringOfBot(
  variables: { INFRA_API_KEY: string; REDIS_PREFIX: string; STATE_KEY?: string },
  purpose: 'requests' | 'records' = 'requests',
): Keyring {
  return createKeyring(secretsOf(keysOfBot(variables)), { purpose, prefix: variables.REDIS_PREFIX })
}

/** The facts of a sealed record, without a look at its signature. */
export const factsOf = (sealed: string) => JSON.parse(sealed.slice(sealed.indexOf(' ') + 1))

/** The record with other facts under the same signature, or under that of another record. */
export function changedFacts(sealed: string, more: object, signedAs = sealed): string {
  return `${signedAs.slice(0, signedAs.indexOf(' '))} ${JSON.stringify({ ...factsOf(sealed), ...more })}`
}

export function secretsOf(keys: string): [Secret, ...Secret[]] {
  const [first = '', ...others] = keys.split(',')
  return [new Secret(first), ...others.map((key) => new Secret(key))]
}

/** Returns the request as it is signed, approved by these people, with the decision of the last of them. */
export function approvedBy(
  { signRequest, signApproval, signApproved }: RequestSignatures,
  request: Request,
  given: Omit<Approval, 'signature'>[],
): Request {
  const signed = { ...request, signature: signRequest(request) }
  const approved = { ...signed, approvals: given.map((approval) => signApproval(signed, approval)) }
  const last = given.at(-1)
  return last ? { ...approved, decision: signApproved(approved, last) } : approved
}

/** Returns the request as the bot with these signatures would record it. */
export function signedBy({ signRequest }: RequestSignatures, request: NewRequest): NewRequest {
  return { ...request, signature: signRequest({ version: requestVersion, reason: undefined, ...request }) }
}
