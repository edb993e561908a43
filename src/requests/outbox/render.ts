import type { Description } from '../../domain/change.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import type { Catalog } from '../catalog.ts'
import { approvalCard, type CardView } from '../messages/card.ts'
import { explain, explainAll } from '../messages/causes.ts'
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
    const opened = catalog.openIfFit(request)
    const change = opened?.change ?? catalog.changeIfKnown(request.kind)
    return {
      request,
      isKnown: opened !== undefined,
      description: opened ? opened.change.describe(opened.facts) : unknownDescription(request, catalog),
      unchecked: request.unchecked.map((finding) => explain(change, finding).why),
      warnings: request.warnings.map((finding) => explain(change, finding).why),
      ending: explainAll(change, request.causes),
      handoverLabel: change?.handover?.label,
      reverseLabel: opened && request.state === 'done' ? opened.change.reverse?.(opened.input, opened.latest)?.label : undefined,
      rule: ruleOf(request),
      environment,
    }
  }

  return {
    view,
    knows: (request) => catalog.openIfFit(request) !== undefined,
    card: (request) => approvalCard(view(request)),
    report: (request, name) => {
      const { change, latest } = catalog.open(request)
      const done = change.doneSentence(latest)
      const rule = ruleOf(request)
      return report(
        {
          request,
          description: change.describe(latest),
          ending: explainAll(change, request.causes),
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

/** Another version of Lockkeeper wrote it, and knows more. */
function unknownDescription(request: Request, catalog: Catalog): Description {
  return { title: 'Request of another version', sentence: catalog.sentenceOf(request), facts: [], underway: 'under way' }
}
