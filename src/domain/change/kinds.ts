import type { ChangeKind } from '../policy/change-kind.ts'
import type { Change } from './change.ts'
import type { UnderwayNow } from './underway-now.ts'

/** Creates the registry of the changes by their kind. It is created empty, because features register their changes later. */
export function createKinds(changes: Change[]) {
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
    return changeIfKnown(kind)?.project !== undefined
  }

  /** Returns the words for a kind, or the kind itself if this version does not know it. */
  function labelOf(kind: string): string {
    return changeIfKnown(kind)?.label ?? kind
  }

  /** Returns what can list the changes under way on the account, for every kind that has one. */
  function underwayNow(): UnderwayNow[] {
    return [...byKind.values()].flatMap((change) => change.underwayNow ?? [])
  }

  return { register, changeOf, changeIfKnown, kinds, changeOfAlerts, hasProject, labelOf, underwayNow }
}
