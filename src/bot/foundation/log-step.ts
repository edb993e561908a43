import { traceIdOf } from '../../domain/tracing.ts'
import type { TakenStep } from '../../requests/store/step-data.ts'
import type { Telemetry } from './telemetry.ts'

/** Creates the function that logs each step of a request or of its item, in one line. Names and reasons are in the audit alone. */
export function createLogStep({ log, tracing }: Pick<Telemetry, 'log' | 'tracing'>) {
  return function logStep({ step, requestId, item, kind, to, sinceApprovalMs, tookMs }: TakenStep): void {
    const traceId = traceIdOf(tracing.current())
    log.info(
      {
        requestId,
        ...(item === undefined ? {} : { item }),
        kind,
        step,
        state: to,
        ...(sinceApprovalMs === undefined ? {} : { sinceApprovalMs }),
        ...(tookMs === undefined ? {} : { tookMs }),
        ...(traceId === undefined ? {} : { traceId }),
      },
      'Took a step of a request',
    )
  }
}
