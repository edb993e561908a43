import type { ApiKey } from '../domain/account/api-key.ts'
import { ApiError } from '../domain/errors/api-errors.ts'
import type { AccountApi } from './client.ts'
import { findInList } from './lists/cut-list.ts'
import type { CallOptions, WriteOptions } from './transport/call.ts'

type ApiKeys = AccountApi['apiKeys']

/**
 * Finds one API key in the list of all keys (interface specification 2023-06-01, "GET /auth/api_keys"). No operation reads a single key.
 * Returns undefined if no key matches.
 * Throws what `apiKeys.list` throws.
 */
export async function findApiKey(
  apiKeys: Pick<ApiKeys, 'list'>,
  matches: (key: ApiKey) => boolean,
  options: CallOptions = {},
): Promise<ApiKey | undefined> {
  return findInList(apiKeys.list(options), matches)
}

/**
 * Deletes an API key. Succeeds if the key no longer exists (404), so it is safe to repeat.
 * Throws every other error that `apiKeys.delete` throws.
 */
export async function ensureDeleted(apiKeys: Pick<ApiKeys, 'delete'>, id: string, options: WriteOptions = {}): Promise<void> {
  await apiKeys.delete(id, options).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error
  })
}
