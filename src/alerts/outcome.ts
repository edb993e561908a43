/** Why an alert or a delivery led to nothing. The set is small and fixed, because it is a label of metrics. */
export const refusalReasons = [
  'wrong-token',
  'unreadable',
  'too-large',
  'too-many',
  'server',
  'target',
  'check',
  'rule',
  'storm',
  'not-posted',
  'other',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/**
 * What became of one alert. `received` counts each alert that arrived; `unmatched`: no entry of the policy is for it; `duplicate`: it was handled
 * before; `delayed`: it could not be handled now, and its sender repeats it.
 */
export const alertOutcomes = ['received', 'proposed', 'duplicate', 'resolved', 'unmatched', 'refused', 'delayed'] as const
export type AlertCount = (typeof alertOutcomes)[number]

/** Counts alerts for the metrics. */
export interface AlertCounts {
  alert(outcome: AlertCount, count?: number): void
  refused(reason: RefusalReason, count?: number): void
}

/** An alert could not be handled now. Its sender repeats it. */
export class TryLater extends Error {
  override name = 'TryLater'
}
