import type { TakenStep } from '../../requests/store/step-data.ts'
import type { Telemetry } from './telemetry.ts'

/** Creates the function that logs each step of a request or of its item, in one line. Names and reasons are in the audit alone. */
export function createLogStep({ log }: Pick<Telemetry, 'log'>) {
  return function logStep({ step, requestId, item, kind, to, sinceApprovalMs, tookMs }: TakenStep): void {
    log.info(
      {
        requestId,
        ...(item === undefined ? {} : { item }),
        kind,
        step,
        state: to,
        ...(sinceApprovalMs === undefined ? {} : { sinceApprovalMs }),
        ...(tookMs === undefined ? {} : { tookMs }),
      },
      'Took a step of a request',
    )
  }
}
