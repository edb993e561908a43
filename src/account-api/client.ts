import { apiKeysResource } from './api-keys.ts'
import { baselinesResource } from './baselines.ts'
import { elasticIpsResource } from './elastic-ips.ts'
import { eventsResource } from './events.ts'
import { createHttp, type HttpOptions } from './http.ts'
import { plansResource } from './plans.ts'
import type { ReportSkipped } from './resource-kind.ts'
import { serversResource } from './servers.ts'
import { virtualMachinesResource } from './virtual-machines.ts'

export interface AccountApiOptions extends HttpOptions {
  onSkipped?: ReportSkipped
}

/**
 * The typed client of the account API (interface specification, version 2023-06-01). Reads are tried up to three times, writes once.
 * Everything throws ApiError (the API said no), ApiContractError (its answer does not fit), ApiUnreachableError (no answer),
 * or UserError (an id that cannot be one; nothing is sent).
 */
export function createAccountApi({ onSkipped = () => {}, ...options }: AccountApiOptions) {
  const http = createHttp(options)

  return {
    elasticIps: elasticIpsResource(http, onSkipped),
    servers: serversResource(http, onSkipped),
    virtualMachines: virtualMachinesResource(http, onSkipped),
    plans: plansResource(http, onSkipped),
    baselines: baselinesResource(http, onSkipped),
    apiKeys: apiKeysResource(http, onSkipped),
    events: eventsResource(http, onSkipped),
    /** Waits for the calls under way: end them first, with their signals, when there is no time. */
    close: http.close,
  }
}
export type AccountApi = ReturnType<typeof createAccountApi>
