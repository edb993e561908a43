import { type Change, createKinds, type Item, type Offer, projectOf as projectOfChange, type ThingKind } from '../domain/change.ts'
import type { Project } from '../domain/policy.ts'
import { type Request, unknownState } from '../domain/request.ts'
import { type Phrase, phrase } from '../domain/text.ts'

/** A request's change, and the request's content in the types of that change. */
export interface Opened {
  change: Change
  input: unknown
  /** The account as approved. */
  facts: unknown
  /** The account as read at execution, or as approved before that. */
  latest: unknown
}

/** What a request, or a note of one in the audit, says of its change. */
interface Describable {
  kind: string
  resource: string
  facts?: unknown
}

/**
 * Creates the catalog of changes by kind. A record in Redis names its kind only. Features create the changes from parts that need the
 * catalog, so the catalog is created empty, and the changes are registered before anything uses it.
 */
export function createCatalog(changes: Change[] = []) {
  const { register, changeOf, changeIfKnown, kinds, changeOfAlerts, hasProject, labelOf, underwayNow } = createKinds(changes)

  /** Finds the change of a request and parses the request's content. Throws if the kind is unknown or the content does not fit. */
  function open(request: Request): Opened {
    const change = changeOfRequest(request)
    const facts = change.facts.parse(request.facts)
    const latest = request.seen === undefined ? facts : change.facts.parse(request.seen)
    return { change, input: change.input.parse(request.input), facts, latest }
  }

  /** A child has the change of an item of its parent. */
  function changeOfRequest({ kind, parent }: Request): Change {
    const { items } = parent ? changeOf(parent.kind) : {}
    return parent && items?.change.kind === kind ? items.change : changeOf(kind)
  }

  /** Returns undefined for a request that another version of Lockkeeper wrote and this one cannot open. */
  function openIfFit(request: Request): Opened | undefined {
    if (request.state === unknownState) return undefined
    try {
      return open(request)
    } catch {
      return undefined
    }
  }

  /** Returns the items of a request in the order of its message. Empty for a change of a single resource. */
  function itemsOf({ change, facts }: Pick<Opened, 'change' | 'facts'>): Item[] {
    return change.items?.of(facts) ?? []
  }

  /** Names what a request changes, the same everywhere: `Move 203.0.113.10: web-1 → web-2`. */
  function titleOf({ kind, resource, facts }: Describable): Phrase {
    const change = changeIfKnown(kind)
    const parsed = change?.facts.safeParse(facts)
    return change && parsed?.success ? change.describe(parsed.data).title : phrase`${[labelOf(kind)]} (${resource})`
  }

  /** Returns the project of a request at the time of the request. */
  function projectOf(request: Request): Project {
    const opened = openIfFit(request)
    return opened ? projectOfChange(opened.change, opened.facts) : 'unknown'
  }

  /** Returns the buttons that change a thing of this kind. */
  function offersFor(kind: ThingKind): Offer[] {
    return kinds()
      .flatMap((each) => changeOf(each).offer ?? [])
      .filter(({ of }) => of === kind)
  }

  return {
    register,
    offersFor,
    open,
    openIfFit,
    itemsOf,
    projectOf,
    titleOf,
    changeIfKnown,
    kinds,
    changeOfAlerts,
    hasProject,
    labelOf,
    underwayNow,
  }
}
export type Catalog = ReturnType<typeof createCatalog>
