import type { Metrics } from '../ops/pages/metrics.ts'
import type { Catalog } from '../requests/catalog.ts'
import type { TakenStep } from '../requests/store/take-step.ts'
import { decisionOf } from './decision-of.ts'

/** Returns a function that counts a step of a request, the decision that it is, and how long a change took that it ends. */
export function createCountStep({ metrics, catalog }: { metrics: Metrics; catalog: Pick<Catalog, 'changeIfKnown'> }) {
  return function countStep({ step, kind, to, tookMs }: TakenStep): void {
    metrics.transition(kind, to)
    const decision = decisionOf(step)
    if (decision) metrics.decision(kind, decision)
    if (catalog.changeIfKnown(kind)?.takesTime && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  }
}
