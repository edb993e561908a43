import type { Secret } from '../signing/secret.ts'

/** An API key as the account API lists it (interface specification, "API key"), without its token. */
export interface ApiKey {
  id: string
  name: string | undefined
  /** The last characters of the token. */
  tokenLastSlice: string | undefined
  apiVersion: string | undefined
  /** A read-only key allows only GET requests. Undefined if the account API does not say. */
  readOnly: boolean | undefined
  /** Addresses or CIDR ranges that may use the key. Empty: any address. Undefined if the account API does not say. */
  allowedIps: string[] | undefined
  createdAt: string | undefined
  updatedAt: string | undefined
  /** Undefined if the key was never used. */
  lastUsedAt: string | undefined
  user: { id: string | undefined; email: string | undefined } | undefined
}

/** The variables that hold Lockkeeper's own keys. */
export type KeyVariable = 'INFRA_API_KEY' | 'INFRA_READ_KEY'

/** The last characters of Lockkeeper's own keys, by which they are recognized in a list of keys. */
export type OwnLastSlices = Partial<Record<KeyVariable, string>>

/** Returns the variable that holds this key. Undefined for a key that Lockkeeper does not use. */
export function ownVariableOf({ tokenLastSlice }: ApiKey, own: OwnLastSlices): KeyVariable | undefined {
  if (tokenLastSlice === undefined) return undefined
  return (['INFRA_API_KEY', 'INFRA_READ_KEY'] as const).find((variable) => own[variable] === tokenLastSlice)
}

/** Why INFRA_READ_KEY does not fit. `not-listed`: the account has no such key. */
export type ReadKeyProblem = 'not-listed' | 'not-read-only' | 'of-another-user'

/** Returns why INFRA_READ_KEY does not fit, or undefined if it does or there is none. What the account API does not show is no problem. */
export function readKeyProblem(keys: ApiKey[], own: OwnLastSlices): ReadKeyProblem | undefined {
  if (own.INFRA_READ_KEY === undefined) return undefined
  const holding = (variable: KeyVariable) => keys.find((each) => ownVariableOf(each, own) === variable)
  const readKey = holding('INFRA_READ_KEY')
  if (!readKey) return 'not-listed'
  if (readKey.readOnly === false) return 'not-read-only'
  const users = [readKey.user?.id, holding('INFRA_API_KEY')?.user?.id]
  return users.includes(undefined) || users[0] === users[1] ? undefined : 'of-another-user'
}

/** The answer to a creation or a rotation. No other answer contains the token. */
export interface IssuedApiKey {
  key: ApiKey
  token: Secret
}
