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

/** The answer to a creation or a rotation. No other answer contains the token. */
export interface IssuedApiKey {
  key: ApiKey
  token: Secret
}
