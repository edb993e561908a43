import type { Secret } from '../domain/secret.ts'
import { apiKeysResource } from './api-keys.ts'
import { baselinesResource } from './baselines.ts'
import { elasticIpsResource } from './elastic-ips.ts'
import { eventsResource } from './events.ts'
import { createHttp, type HttpCallReport, type Timings } from './http.ts'
import { plansResource } from './plans.ts'
import { serversResource } from './servers.ts'
import { virtualMachinesResource } from './virtual-machines.ts'

export interface AccountApiOptions {
  /** `{base_url}` of the interface specification; its path, if any, is kept. */
  baseUrl: URL
  key: Secret
  timings?: Partial<Timings>
  /** Told of every try, with what came of it. For metrics and logs. */
  onCall?: (report: HttpCallReport) => void
  /** Told when items of a list did not fit and were left out, so that the rest could be shown. */
  onSkipped?: (report: SkippedReport) => void
}

export interface SkippedReport {
  operation: string
  count: number
}

/** For every operation: whoever asks may stop waiting. A write that is already on its way may still be carried out. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/**
 * The typed client of the account API (interface specification, version 2023-06-01). Reads are tried up to three times, writes once.
 * Everything throws ApiError (the API said no), ApiContractError (its answer does not fit), ApiUnreachableError (no answer),
 * or UserError (an id that cannot be one; nothing is sent).
 */
export function createAccountApi({ onSkipped, ...options }: AccountApiOptions) {
  const http = createHttp(options)
  const reportSkipped = onSkipped ?? (() => {})

  return {
    elasticIps: elasticIpsResource(http, reportSkipped),
    servers: serversResource(http, reportSkipped),
    virtualMachines: virtualMachinesResource(http, reportSkipped),
    plans: plansResource(http, reportSkipped),
    baselines: baselinesResource(http, reportSkipped),
    apiKeys: apiKeysResource(http, reportSkipped),
    events: eventsResource(http, reportSkipped),
    /** Waits for the calls under way, so end them first with their signals. */
    close: http.close,
  }
}
export type AccountApi = ReturnType<typeof createAccountApi>
