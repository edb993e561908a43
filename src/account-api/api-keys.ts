import { z } from 'zod'
import type { ApiKey, IssuedApiKey } from '../domain/api-key.ts'
import { Secret } from '../domain/secret.ts'
import type { CallOptions, WriteOptions } from './call.ts'
import { text, toText } from './fields.ts'
import type { Http } from './http.ts'
import { pathTo } from './path.ts'
import { type ReportSkipped, readList, resourceKind } from './resource-kind.ts'

const attributes = z.object({
  name: text,
  token_last_slice: text,
  api_version: text,
  read_only: z.boolean().nullish(),
  /** Item types are not shown in the specification. */
  allowed_ips: z.array(z.unknown()).nullish(),
  created_at: text,
  updated_at: text,
  last_used_at: text,
  user: z.object({ id: text, email: text }).nullish(),
})
export const ApiKeyResponse = z.object({ id: z.string(), attributes })
export const IssuedApiKeyResponse = z.object({ id: z.string(), attributes: attributes.extend({ token: z.string().min(1) }) })

function toApiKey({ id, attributes: wire }: z.infer<typeof ApiKeyResponse>): ApiKey {
  return {
    id,
    name: wire.name || undefined,
    tokenLastSlice: wire.token_last_slice || undefined,
    apiVersion: wire.api_version ?? undefined,
    readOnly: wire.read_only ?? undefined,
    allowedIps: toAllowedIps(wire.allowed_ips),
    createdAt: wire.created_at ?? undefined,
    updatedAt: wire.updated_at ?? undefined,
    lastUsedAt: wire.last_used_at ?? undefined,
    user: wire.user ? { id: wire.user.id ?? undefined, email: wire.user.email ?? undefined } : undefined,
  }
}

/** Null means from everywhere. An entry in a new form is kept as it came: leaving it out would read as "from everywhere". */
function toAllowedIps(entries: unknown[] | null | undefined): string[] | undefined {
  if (entries === undefined) return undefined
  return entries?.map((entry) => toText(entry) ?? JSON.stringify(entry)) ?? []
}

const apiKey = resourceKind(ApiKeyResponse, toApiKey)
const issuedApiKey = resourceKind(
  IssuedApiKeyResponse,
  (wire): IssuedApiKey => ({ key: toApiKey(wire), token: new Secret(wire.attributes.token) }),
)

export interface ApiKeySettings {
  /** Such a key can only GET. */
  readOnly?: boolean | undefined
  /** Addresses or CIDR ranges; empty for everywhere. */
  allowedIps?: string[] | undefined
}

export function apiKeysResource(http: Http, reportSkipped: ReportSkipped) {
  return {
    /** All keys of the account, without their tokens (interface specification, "GET /auth/api_keys"). */
    async list({ signal }: CallOptions = {}): Promise<ApiKey[]> {
      return readList(http, apiKey, { operation: 'apiKeys.list', path: '/auth/api_keys', signal }, reportSkipped)
    },

    /**
     * Creates a key (interface specification, "POST /auth/api_keys"). The token is in this answer and nowhere else. Not idempotent:
     * when the answer is lost, look for the key by its name.
     */
    async create({ name, ...settings }: ApiKeySettings & { name: string }, { signal, onAnswer }: WriteOptions = {}): Promise<IssuedApiKey> {
      const body = { data: { type: 'api_keys', attributes: { name, ...wireSettings(settings) } } }
      return http.call({
        operation: 'apiKeys.create',
        method: 'POST',
        path: '/auth/api_keys',
        body,
        signal,
        onAnswer,
        read: issuedApiKey.one,
      })
    },

    /** Gives the key a new token; the old one stops working at once, also when the answer is lost. */
    async rotate(id: string, name: string, { signal, onAnswer }: WriteOptions = {}): Promise<IssuedApiKey> {
      const body = { data: { id, type: 'api_keys', attributes: { name } } }
      const path = pathTo('/auth/api_keys', id)
      return http.call({ operation: 'apiKeys.rotate', method: 'PUT', path, body, signal, onAnswer, read: issuedApiKey.one })
    },

    /** Changes what is given, and the token not. */
    async update(id: string, { name, ...settings }: ApiKeySettings & { name?: string }, { signal }: CallOptions = {}): Promise<ApiKey> {
      const body = { data: { id, type: 'api_keys', attributes: { name, ...wireSettings(settings) } } }
      return http.call({ operation: 'apiKeys.update', method: 'PATCH', path: pathTo('/auth/api_keys', id), body, signal, read: apiKey.one })
    },

    /** Revokes the key. ApiError 404 when there is no such key (any more). */
    async delete(id: string, { signal, onAnswer }: WriteOptions = {}): Promise<void> {
      const path = pathTo('/auth/api_keys', id)
      return http.call({ operation: 'apiKeys.delete', method: 'DELETE', path, signal, onAnswer, read: () => undefined, mayBeEmpty: true })
    },
  }
}

/** What is undefined is not sent: JSON has no word for it. */
function wireSettings({ readOnly, allowedIps }: ApiKeySettings) {
  return { read_only: readOnly, allowed_ips: allowedIps }
}
