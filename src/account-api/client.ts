import type { ReportSkipped } from './lists/resource-kind.ts'
import { apiKeysResource } from './resources/api-keys.ts'
import { baselinesResource } from './resources/baselines.ts'
import { type ElasticIpReads, elasticIpsResource } from './resources/elastic-ips.ts'
import { eventsResource } from './resources/events.ts'
import { plansResource } from './resources/plans.ts'
import { serversResource } from './resources/servers.ts'
import { virtualMachinesResource } from './resources/virtual-machines.ts'
import { createHttp, type HttpOptions } from './transport/http.ts'

export interface AccountApiOptions extends HttpOptions {
  /** Called when items of a list did not fit the schema and were left out. */
  onSkipped?: ReportSkipped
  /** Gets the Elastic IPs that were read. */
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
export function createAccountApi({ onSkipped = () => {}, elasticIpReads, ...options }: AccountApiOptions) {
  const http = createHttp(options)

  return {
    elasticIps: elasticIpsResource(http, onSkipped, elasticIpReads),
    servers: serversResource(http, onSkipped),
    virtualMachines: virtualMachinesResource(http, onSkipped),
    plans: plansResource(http, onSkipped),
    baselines: baselinesResource(http, onSkipped),
    apiKeys: apiKeysResource(http, onSkipped),
    events: eventsResource(http, onSkipped),
    /** Closes the connections after the running calls have ended. To close sooner, abort those calls with their signals first. */
    close: http.close,
  }
}
export type AccountApi = ReturnType<typeof createAccountApi>
