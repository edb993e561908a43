import { ListCutError } from '../../domain/errors/list-errors.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { leftOutOf } from './left-out.ts'

/** A list for display, with what is missing in it. Code that shows the list must say what is missing. */
export interface ReadList<Item> extends Missing {
  items: Item[]
}

/** Returns as much of a list as could be read, for lists that are only shown. Throws every error of the list except ListCutError. */
export async function asFarAsRead<Item>(list: Promise<Item[]>): Promise<ReadList<Item>> {
  try {
    const items = await list
    return { items, ...leftOutOf(items) }
  } catch (error) {
    if (error instanceof ListCutError) return { items: error.items as Item[], cut: error.limit, ...leftOutOf(error.items) }
    throw error
  }
}

/**
 * Finds one item of a list. Throws ListCutError if the list was not read to its end and does not contain the item, because the item may
 * still exist.
 */
export async function findInList<Item>(list: Promise<Item[]>, matches: (item: Item) => boolean): Promise<Item | undefined> {
  try {
    return (await list).find(matches)
  } catch (error) {
    const found = error instanceof ListCutError ? (error.items as Item[]).find(matches) : undefined
    if (found === undefined) throw error
    return found
  }
}
