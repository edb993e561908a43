import type { StepName } from '../requests/steps.ts'

type Decision = 'approve' | 'reject' | 'withdraw' | 'expire' | 'break-glass'

const decisions: Record<StepName, Decision | undefined> = {
  approve: 'approve',
  'count-approval': 'approve',
  exempt: 'approve',
  'break-glass': 'break-glass',
  reject: 'reject',
  withdraw: 'withdraw',
  'withdraw-key': 'withdraw',
  expire: 'expire',
  'expire-approved': 'expire',
  'remind-half': undefined,
  'remind-last': undefined,
  void: undefined,
  drop: undefined,
  send: undefined,
  issue: undefined,
  accept: undefined,
  late: undefined,
  finish: undefined,
  fail: undefined,
  'fail-begun': undefined,
  supersede: undefined,
  'not-start': undefined,
  restart: undefined,
  'correct-to-done': undefined,
  'correct-to-failed': undefined,
  'correct-to-superseded': undefined,
  'correct-to-not-started': undefined,
  'stop-tracking': undefined,
  'track-again': undefined,
}

/** The decision that a step is counted as in the metrics; undefined where it decides nothing. */
export function decisionOf(step: StepName | 'request'): Decision | undefined {
  return step === 'request' ? undefined : decisions[step]
}
