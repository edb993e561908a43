import type { ApiKey } from '../domain/api-key.ts'
import { ApiError } from '../domain/errors.ts'
import type { CallOptions, WriteOptions } from './call.ts'
import type { AccountApi } from './client.ts'

type ApiKeys = AccountApi['apiKeys']

/** One key out of the list: the interface specification has no operation for one alone. */
export async function findApiKey(
  apiKeys: Pick<ApiKeys, 'list'>,
  fits: (key: ApiKey) => boolean,
  options: CallOptions = {},
): Promise<ApiKey | undefined> {
  return (await apiKeys.list(options)).find(fits)
}

/** Sees to it that there is no such key any more: gone is gone, whoever deleted it. Safe to repeat. */
export async function ensureDeleted(apiKeys: Pick<ApiKeys, 'delete'>, id: string, options: WriteOptions = {}): Promise<void> {
  await apiKeys.delete(id, options).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error
  })
}
