import { type Change, type Item, type Offer, projectOf as projectOfChange, type ThingKind, type UnderwayNow } from '../domain/change.ts'
import type { ChangeKind, Project } from '../domain/policy.ts'
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
  const byKind = new Map(changes.map((change) => [change.kind, change]))

  function register(more: Change[]): void {
    for (const change of more) byKind.set(change.kind, change)
  }

  function changeOf(kind: ChangeKind): Change {
    const change = byKind.get(kind)
    if (!change) throw new Error(`no change of kind ${kind}`)
    return change
  }

  /** Returns undefined for a kind that this version does not know. */
  function changeIfKnown(kind: string): Change | undefined {
    return byKind.get(kind)
  }

  /** Returns every kind that can be requested. */
  function kinds(): ChangeKind[] {
    return [...byKind.keys()]
  }

  /** Returns the change that alerts may request. Undefined if no feature has one. */
  function changeOfAlerts(): Change | undefined {
    return [...byKind.values()].find(({ inputOfAlert }) => inputOfAlert !== undefined)
  }

  /** Whether the resources of this kind belong to projects. */
  function hasProject(kind: string): boolean {
    return byKind.get(kind)?.project !== undefined
  }

  /** Returns the words for a kind, or the kind itself if this version does not know it. */
  function labelOf(kind: string): string {
    return byKind.get(kind)?.label ?? kind
  }

  /** Returns what can list the changes under way on the account, for every kind that has one. */
  function underwayNow(): UnderwayNow[] {
    return [...byKind.values()].flatMap((change) => change.underwayNow ?? [])
  }

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
    return [...byKind.values()].flatMap(({ offer }) => (offer?.of === kind ? offer : []))
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
