import type { Secret } from './secret.ts'

/** An API key as it is listed (interface specification, "API key"): everything but the key itself. */
export interface ApiKey {
  id: string
  name: string | undefined
  /** The last characters of the token. */
  tokenLastSlice: string | undefined
  apiVersion: string | undefined
  /** A read-only key can only GET. Undefined when the account API does not tell. */
  readOnly: boolean | undefined
  /** Addresses or CIDR ranges; empty means from everywhere. Undefined when the account API does not tell. */
  allowedIps: string[] | undefined
  createdAt: string | undefined
  updatedAt: string | undefined
  /** Undefined when never used. */
  lastUsedAt: string | undefined
  user: { id: string | undefined; email: string | undefined } | undefined
}

/** The one moment in which a token can be seen: the answer to creation or rotation. */
export interface IssuedApiKey {
  key: ApiKey
  token: Secret
}
