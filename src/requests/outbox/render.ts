import { formatDuration } from '../../domain/duration.ts'
import type { PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import type { Catalog } from '../catalog.ts'
import { approvalCard, type CardView } from '../messages/card.ts'
import { asDirect, asRepeat, report } from '../messages/reports.ts'
import type { Renderer } from './deliver.ts'

interface RenderParts {
  catalog: Catalog
  /** The policy's rule for a request as it is now. */
  ruleOf: (request: Request) => PolicyRule | undefined
  environment: string | undefined
  moveTimeoutMs: number
  now?: () => number
}

/** Cards and reports from records, for every kind of change. */
export function createRenderer({
  catalog,
  ruleOf,
  environment,
  moveTimeoutMs,
  now = Date.now,
}: RenderParts): Renderer & { view(request: Request): CardView } {
  /** What a card is made from. */
  function view(request: Request): CardView {
    const { change, input, facts, latest } = catalog.open(request)
    const reverseLabel = request.state === 'done' ? change.reverse?.(input, latest)?.label : undefined
    const handoverLabel = change.handover?.label
    return { request, handoverLabel, description: change.describe(facts), reverseLabel, rule: ruleOf(request), environment }
  }

  return {
    view,
    card: (request) => approvalCard(view(request)),
    report: (request, name) => {
      const { change, latest } = catalog.open(request)
      const done = change.doneSentence(latest)
      const rule = ruleOf(request)
      return report(
        {
          request,
          description: change.describe(latest),
          done,
          remark: change.remark?.(latest),
          rule,
          lateAfter: formatDuration(moveTimeoutMs),
          now: now(),
        },
        name,
      )
    },
    asRepeat,
    asDirect,
  }
}
