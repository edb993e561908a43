import type { ApiKey } from '../domain/account.ts'
import { ApiError } from '../domain/errors.ts'
import { apiKeysResource } from './api-keys.ts'
import { baselinesResource } from './baselines.ts'
import { type ElasticIpReads, elasticIpsResource } from './elastic-ips.ts'
import { eventsResource } from './events.ts'
import { type CallOptions, createHttp, type HttpOptions, type WriteOptions } from './http.ts'
import { plansResource } from './plans.ts'
import { findInList } from './resource.ts'
import { serversResource } from './servers.ts'
import { virtualMachinesResource } from './virtual-machines.ts'

export interface AccountApiOptions extends HttpOptions {
  elasticIpReads?: ElasticIpReads
}

/**
 * Creates the typed client of the account API ("Infrastructure Account Management Service: Interface Specification", interface version
 * 2023-06-01). Sends a read up to three times and a write exactly once. Every operation throws one of these:
 *
 * - ApiError: the account API rejected the request. Carries the status and the error codes.
 * - ApiContractError: the account API answered, but the answer does not fit the schema.
 * - ApiUnreachableError: no answer came. `requestSent` says whether the request may have been carried out.
 * - UserError: the id is impossible. Nothing was sent.
 */
export function createAccountApi({ elasticIpReads, ...options }: AccountApiOptions) {
  const http = createHttp(options)
  return {
    elasticIps: elasticIpsResource(http, elasticIpReads),
    servers: serversResource(http),
    virtualMachines: virtualMachinesResource(http),
    plans: plansResource(http),
    baselines: baselinesResource(http),
    apiKeys: apiKeysResource(http),
    events: eventsResource(http),
    /** Closes the connections after the running calls have ended. To close sooner, abort those calls with their signals first. */
    close: http.close,
  }
}
export type AccountApi = ReturnType<typeof createAccountApi>

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

/** Deletes an API key. Succeeds if the key no longer exists (404), so it is safe to repeat. Throws every other error that `apiKeys.delete` throws. */
export async function ensureDeleted(apiKeys: Pick<ApiKeys, 'delete'>, id: string, options: WriteOptions = {}): Promise<void> {
  await apiKeys.delete(id, options).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error
  })
}
