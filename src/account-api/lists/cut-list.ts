import { ApiUnreachableError } from '../../domain/errors/api-errors.ts'
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
 * Finds one item of a list. An item that it does not contain may still exist if the list was not read to its end, or is an earlier copy. Then it
 * throws ListCutError, or what kept the list from being read again.
 */
export async function findInList<Item>(list: Promise<Item[]>, matches: (item: Item) => boolean): Promise<Item | undefined> {
  try {
    const items = await list
    const found = items.find(matches)
    if (found === undefined) throwIfOld(leftOutOf(items))
    return found
  } catch (error) {
    const found = error instanceof ListCutError ? (error.items as Item[]).find(matches) : undefined
    if (found === undefined) throw error
    return found
  }
}

/** Throws what kept a list from being read again, if it is an earlier copy, for code that needs an item that the copy lacks. */
export function throwIfOld({ old }: Missing): void {
  if (!old) return
  throw old.because ?? new ApiUnreachableError({ operation: 'list', requestSent: 'unknown', problem: 'not finished within 1 s' })
}

/** Returns a shared list if it is no earlier copy, and reads the list otherwise. `share`: absent before a write, which must not rely on a copy. */
export async function listNow<Item>(share: (() => Promise<Item[]>) | undefined, read: () => Promise<Item[]>): Promise<Item[]> {
  const items = await share?.()
  return items && !leftOutOf(items).old ? items : read()
}
