import type { Missing } from '../../domain/errors/missing.ts'

type LeftOut = Pick<Missing, 'unreadable' | 'unready'>

/** Kept beside the lists, because nearly all code that reads one needs only its items. */
const known = new WeakMap<readonly unknown[], LeftOut>()

/** Notes how many items of an answer are not in the list. */
export function noteLeftOut<Item>(items: Item[], leftOut: LeftOut): Item[] {
  known.set(items, leftOut)
  return items
}

/** Returns how many items of the answer are not in a list that the client has returned. */
export function leftOutOf(items: readonly unknown[]): LeftOut {
  return known.get(items) ?? {}
}
