import type { Log } from '../../ops/log/log.ts'
import type { TakenStep } from '../../requests/store/take-step.ts'

/** Creates the function that logs each step of a request or of its item, in one line. Names and reasons are in the audit alone. */
export function createLogStep(log: Pick<Log, 'info'>) {
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
      'step of a request',
    )
  }
}
