import type { Missing } from '../../domain/errors/missing.ts'

type LeftOut = Omit<Missing, 'cut'>

/** Kept beside the lists, because nearly all code that reads one needs only its items. */
const known = new WeakMap<readonly unknown[], LeftOut>()

/** Notes how many items of an answer are not in the list, and how old the list is if it is a copy. */
export function noteLeftOut<Item>(items: Item[], leftOut: LeftOut): Item[] {
  known.set(items, leftOut)
  return items
}

/** Returns what was noted about a list. */
export function leftOutOf(items: readonly unknown[]): LeftOut {
  return known.get(items) ?? {}
}
