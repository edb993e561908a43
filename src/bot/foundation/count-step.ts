import type { Metrics } from '../../ops/pages/metrics.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { StepName } from '../../requests/steps.ts'
import type { TakenStep } from '../../requests/store/step-data.ts'

type Decision = 'approve' | 'reject' | 'withdraw' | 'expire' | 'break-glass'

/** The decision that each step is counted as in the metrics. Undefined for a step that decides nothing. */
const decisions: Record<StepName, Decision | undefined> = {
  approve: 'approve',
  'count-approval': 'approve',
  exempt: 'approve',
  'break-glass': 'break-glass',
  reject: 'reject',
  withdraw: 'withdraw',
  'withdraw-resolved': 'withdraw',
  'lose-sight': undefined,
  'regain-sight': undefined,
  'note-resolved': undefined,
  expire: 'expire',
  'expire-approved': 'expire',
  'remind-half': undefined,
  'remind-last': undefined,
  'remind-handover-half': undefined,
  'remind-handover-last': undefined,
  void: undefined,
  drop: undefined,
  begin: undefined,
  'wait-for-account': undefined,
  'wait-for-turn': undefined,
  'wait-for-worker': undefined,
  limit: undefined,
  send: undefined,
  issue: undefined,
  accept: undefined,
  late: undefined,
  finish: undefined,
  fail: undefined,
  'fail-begun': undefined,
  supersede: undefined,
  'not-start': undefined,
  'correct-to-tracking': undefined,
  'correct-to-done': undefined,
  'correct-to-failed': undefined,
  'correct-to-superseded': undefined,
  'correct-to-not-started': undefined,
  'stop-tracking': undefined,
  distrust: undefined,
  'track-again': undefined,
}

/** Creates the function that counts a step, its decision, the time from the approval to the write, and the duration of the change that it ends. */
export function createCountStep({ metrics, catalog }: { metrics: Metrics; catalog: Pick<Catalog, 'changeIfKnown'> }) {
  return function countStep({ step, kind, requestKind = kind, to, tookMs, sinceApprovalMs }: TakenStep): void {
    metrics.transition(kind, to)
    const decision = Object.hasOwn(decisions, step) ? decisions[step as StepName] : undefined
    if (decision) metrics.decision(kind, decision)
    if (sinceApprovalMs !== undefined) metrics.writeSent(requestKind, sinceApprovalMs)
    const change = catalog.changeIfKnown(kind)
    // A request of several counts as its items do, each at its own end.
    if (change?.takesTime && !change.items && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  }
}
