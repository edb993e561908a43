import { distance } from 'fastest-levenshtein'

/** Returns the known name that was probably meant. Returns undefined if more than a third of every name is mistyped. */
export function nearest(known: readonly string[], typed: string): string | undefined {
  const near = known
    .map((name) => ({ name, mistakes: distance(typed.toLowerCase().slice(0, 100), name) }))
    .filter(({ name, mistakes }) => mistakes <= Math.ceil(name.length / 3))
  return near.toSorted((a, b) => a.mistakes - b.mistakes)[0]?.name
}
