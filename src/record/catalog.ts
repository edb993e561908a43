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
  /** The account as read before the write, or as approved before that. */
  latest: unknown
}

/** The changes by kind. Features create them from parts that need the catalog, so it is created empty, and they are registered later. */
export function createCatalog(changes: Change[] = []) {
  const byKind = new Map(changes.map((change) => [change.kind, change]))
  const changeIfKnown = (kind: string) => byKind.get(kind)
  const labelOf = (kind: string) => byKind.get(kind)?.label ?? kind
  const all = () => [...byKind.values()]

  function changeOf(kind: ChangeKind): Change {
    const change = byKind.get(kind)
    if (!change) throw new Error(`no change of kind ${kind}`)
    return change
  }

  /** Throws if the kind is unknown or the content does not fit. A child has the change of an item of its parent. */
  function open({ kind, parent, ...request }: Request): Opened {
    const { items } = parent ? changeOf(parent.kind) : {}
    const change = items?.change.kind === kind ? items.change : changeOf(kind)
    const facts = change.facts.parse(request.facts)
    const latest = request.seen === undefined ? facts : change.facts.parse(request.seen)
    return { change, input: change.input.parse(request.input), facts, latest }
  }

  /** Undefined for a request that another version of Lockkeeper wrote and this one cannot open. */
  function openIfFit(request: Request): Opened | undefined {
    if (request.state === unknownState) return undefined
    try {
      return open(request)
    } catch {
      return undefined
    }
  }

  return {
    register(more: Change[]): void {
      for (const change of more) byKind.set(change.kind, change)
    },
    changeIfKnown,
    open,
    openIfFit,
    kinds: (): ChangeKind[] => [...byKind.keys()],
    changeOfAlerts: (): Change | undefined => all().find(({ inputOfAlert }) => inputOfAlert !== undefined),
    changesForMachines: (): Change[] => all().filter(({ machines }) => machines !== undefined),
    hasProject: (kind: string): boolean => byKind.get(kind)?.project !== undefined,
    labelOf,
    /** What can list the changes under way on the account. */
    underwayNow: (): UnderwayNow[] => all().flatMap((change) => change.underwayNow ?? []),
    /** In the order of the request message. Empty for a change of a single resource. */
    itemsOf: ({ change, facts }: Pick<Opened, 'change' | 'facts'>): Item[] => change.items?.of(facts) ?? [],
    /** Names what a request changes, the same everywhere: `Move 203.0.113.10: web-1 → web-2`. */
    titleOf({ kind, resource, facts }: { kind: string; resource: string; facts?: unknown }, { isShort = false } = {}): Phrase {
      const change = changeIfKnown(kind)
      const parsed = change?.facts.safeParse(facts)
      if (!change || !parsed?.success) return phrase`${[labelOf(kind)]} (${resource})`
      const { title, short = title } = change.describe(parsed.data)
      return isShort ? short : title
    },
    /** At the time of the request. */
    projectOf(request: Request): Project {
      const opened = openIfFit(request)
      return opened ? projectOfChange(opened.change, opened.facts) : 'unknown'
    },
    targetOf(request: Request): { id: string; name: string } | undefined {
      const opened = openIfFit(request)
      return opened?.change.target?.(opened.facts)
    },
    /** For the owner of a key that ends soon. */
    offersAtEnd: () => all().flatMap(({ kind, offeredAtEnd: label }) => (label === undefined ? [] : [{ of: 'api-key', kind, label }])),
    offersFor: (kind: ThingKind): Offer[] => all().flatMap(({ offer }) => (offer?.of === kind ? offer : [])),
  }
}
export type Catalog = ReturnType<typeof createCatalog>
