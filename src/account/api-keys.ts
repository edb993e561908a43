import { z } from 'zod'
import type { ApiKey, IssuedApiKey } from '../domain/account.ts'
import { Secret } from '../domain/signing.ts'
import { shown, text, toText } from './fields.ts'
import type { CallOptions, Http, WriteOptions } from './http.ts'
import { pathTo, readList, resourceKind } from './resource.ts'

const attributes = z.object({
  name: text,
  token_last_slice: text,
  api_version: text,
  read_only: z.boolean().nullish(),
  /** The interface specification does not show the type of the items. */
  allowed_ips: z.array(z.unknown()).nullish(),
  created_at: text,
  updated_at: text,
  last_used_at: text,
  user: z.object({ id: text, email: text }).nullish(),
})
export const ApiKeyResponse = z.object({ id: z.string(), attributes })
export const IssuedApiKeyResponse = z.object({ id: z.string(), attributes: attributes.extend({ token: z.string().min(1) }) })

function toApiKey({ id, attributes }: z.infer<typeof ApiKeyResponse>): ApiKey {
  const wire = shown(attributes)
  return {
    id,
    name: wire.name || undefined,
    tokenLastSlice: wire.token_last_slice || undefined,
    apiVersion: wire.api_version,
    readOnly: wire.read_only,
    allowedIps: toAllowedIps(attributes.allowed_ips),
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    lastUsedAt: wire.last_used_at,
    user: wire.user && shown(wire.user),
  }
}

/**
 * Maps null to an empty list, which means that any address may use the key. Keeps an entry of an unknown type as JSON: without it, a
 * restricted key would appear to be open to any address.
 */
function toAllowedIps(entries: unknown[] | null | undefined): string[] | undefined {
  if (entries === undefined) return undefined
  return entries?.map((entry) => toText(entry) ?? JSON.stringify(entry)) ?? []
}

const apiKey = resourceKind(ApiKeyResponse, toApiKey)
const issuedApiKey = resourceKind(
  IssuedApiKeyResponse,
  (wire): IssuedApiKey => ({ key: toApiKey(wire), token: new Secret(wire.attributes.token) }),
)

interface NewApiKey {
  name: string
  /** If true, the key allows only GET requests. */
  readOnly?: boolean
  /** IP addresses or CIDR ranges that may use the key. An empty list allows any address. */
  allowedIps?: string[]
}

export function apiKeysResource(http: Http) {
  return {
    /**
     * Lists all API keys, without their tokens (interface specification 2023-06-01, "GET /auth/api_keys"). Times are ISO 8601 strings.
     */
    async list({ signal }: CallOptions = {}): Promise<ApiKey[]> {
      return readList(http, apiKey, { operation: 'apiKeys.list', path: '/auth/api_keys', signal })
    },

    /**
     * Creates an API key (interface specification 2023-06-01, "POST /auth/api_keys"). Returns the key and its token, which no other answer
     * contains. Not idempotent: if the answer is lost, find the key by its name.
     */
    async create({ name, readOnly, allowedIps }: NewApiKey, options: WriteOptions = {}): Promise<IssuedApiKey> {
      const body = { data: { type: 'api_keys', attributes: { name, read_only: readOnly, allowed_ips: allowedIps } } }
      return http.call({ operation: 'apiKeys.create', method: 'POST', path: '/auth/api_keys', body, ...options, read: issuedApiKey.one })
    },

    /**
     * Replaces the token of an API key (vendor's OpenAPI document, "PUT /auth/api_keys/{api_key_id}"; not in the interface specification
     * 2023-06-01). Returns the key and its new token. The old token stops working at once, even if the answer is lost.
     * ApiError: 404 for an unknown key.
     */
    async rotate(id: string, name: string, options: WriteOptions = {}): Promise<IssuedApiKey> {
      const body = { data: { id, type: 'api_keys', attributes: { name } } }
      const path = pathTo('/auth/api_keys', id)
      return http.call({ operation: 'apiKeys.rotate', method: 'PUT', path, body, ...options, read: issuedApiKey.one })
    },

    /**
     * Revokes an API key (vendor's OpenAPI document, "DELETE /auth/api_keys/{api_key_id}"; not in the interface specification 2023-06-01).
     * ApiError: 404 for a key that is gone.
     */
    async delete(id: string, options: WriteOptions = {}): Promise<void> {
      const path = pathTo('/auth/api_keys', id)
      return http.call({ operation: 'apiKeys.delete', method: 'DELETE', path, ...options, read: () => undefined })
    },
  }
}
