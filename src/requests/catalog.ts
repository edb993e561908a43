import type { Change, UnderwayNow } from '../domain/change.ts'
import type { ChangeKind } from '../domain/change-kind.ts'
import type { Project } from '../domain/policy.ts'
import { type Request, unknownState } from '../domain/request.ts'

/** A request with its own change, and what it carries in that change's own types. */
export interface Opened {
  change: Change
  input: unknown
  /** The account as approved. */
  facts: unknown
  /** The account as last looked at: at execution where there was one. */
  latest: unknown
}

/** The survey of a kind, and how it shows one request of that kind while it is under way. */
export interface Surveyed {
  survey: NonNullable<Change['survey']>
  sightings: string[]
}

/**
 * Finds changes by their kind, because a record in Redis names its kind and nothing else. Features make the changes, from parts that need the
 * catalog: so the catalog is made first, and the changes are registered before anything uses it.
 */
export function createCatalog(changes: Change[] = []) {
  const byKind = new Map<ChangeKind, Change>()

  function register(more: Change[]): void {
    for (const change of more) byKind.set(change.kind, change)
  }
  register(changes)

  function changeOf(kind: ChangeKind): Change {
    const change = byKind.get(kind)
    if (!change) throw new Error(`no change of kind ${kind}`)
    return change
  }

  /** Undefined for a kind that this version does not know. */
  function changeIfKnown(kind: string): Change | undefined {
    return byKind.get(kind)
  }

  /** Every kind that can be requested. */
  function kinds(): ChangeKind[] {
    return [...byKind.keys()]
  }

  /** A kind in words; the kind itself where this version does not know it. */
  function labelOf(kind: string): string {
    return changeIfKnown(kind)?.label ?? kind
  }

  /** What may be under way on the account, of every kind that can tell. */
  function underwayNow(): UnderwayNow[] {
    return [...byKind.values()].flatMap((change) => change.underwayNow ?? [])
  }

  /** Throws when the kind is unknown or what the record carries no longer fits it (after a deploy that changed its shape). */
  function open(request: Request): Opened {
    const change = changeOf(request.kind)
    const facts = change.facts.parse(request.facts)
    const latest = request.seen === undefined ? facts : change.facts.parse(request.seen)
    return { change, input: change.input.parse(request.input), facts, latest }
  }

  /** The same, where one that does not fit must not stop the others: another version of Lockkeeper wrote it. */
  function openIfFit(request: Request): Opened | undefined {
    if (request.state === unknownState) return undefined
    try {
      return open(request)
    } catch {
      return undefined
    }
  }

  /** A request in one sentence without a full stop: `Move 203.0.113.10 from web-1 to web-2`. */
  function sentenceOf(request: { kind: string; resource: string; facts?: unknown }): string {
    const change = changeIfKnown(request.kind)
    const facts = change?.facts.safeParse(request.facts)
    return change && facts?.success ? change.describe(facts.data).sentence : `${labelOf(request.kind)} (${request.resource})`
  }

  /** Where a request's change belongs, as it was asked for. */
  function projectOf(request: Request): Project {
    const opened = openIfFit(request)
    return opened ? opened.change.project(opened.facts) : 'unknown'
  }

  /** Undefined where there is no survey for this kind, or the record does not fit it. */
  function surveyed(request: Request): Surveyed | undefined {
    const opened = openIfFit(request)
    const { survey, sightings } = opened?.change ?? {}
    return opened && survey && sightings ? { survey, sightings: sightings(opened.input, opened.latest) } : undefined
  }

  return { register, open, openIfFit, surveyed, projectOf, sentenceOf, changeIfKnown, kinds, labelOf, underwayNow }
}
export type Catalog = ReturnType<typeof createCatalog>
