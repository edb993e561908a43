import { distance } from 'fastest-levenshtein'
import { inNaturalOrder } from './natural-order.ts'

/** Longer texts are cut before they are compared, because the time of a comparison grows with the square of the length. */
const longestTyped = 100

/** Counts the letters to add, remove or replace until `typed` is `name`. Upper and lower case of `typed` count as the same. */
export function countMistakes(typed: string, name: string): number {
  return distance(typed.toLowerCase().slice(0, longestTyped), name)
}

interface MistakeLimits {
  mistakesIn: (name: string) => number
  mostMistakes: (name: string) => number
}

/** Returns the names with the fewest mistakes, in the given order, of those with at most `mostMistakes`. */
export function nearestNames(known: readonly string[], { mistakesIn, mostMistakes }: MistakeLimits): string[] {
  const near = known.map((name) => ({ name, mistakes: mistakesIn(name) })).filter(({ name, mistakes }) => mistakes <= mostMistakes(name))
  const fewest = Math.min(...near.map(({ mistakes }) => mistakes))
  return near.filter(({ mistakes }) => mistakes === fewest).map(({ name }) => name)
}

/** Returns the one known word that was probably meant. Returns undefined if more than a third of every word is mistyped. */
export function nearestWord(known: readonly string[], typed: string): string | undefined {
  const [nearest] = nearestNames(known, {
    mistakesIn: (name) => countMistakes(typed, name),
    mostMistakes: (name) => Math.ceil(name.length / 3),
  })
  return nearest
}

const mostNames = 3

/**
 * Returns up to three names that were probably meant: those that begin with what was typed, else those with a word that does, else those
 * with at most a third of their letters mistyped.
 */
export function suggestNames(known: readonly string[], typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const names = [...new Set(known)]
  const beginning = names.filter((name) => name.toLowerCase().startsWith(wanted))
  const within = beginning.length > 0 ? beginning : names.filter((name) => wordsOf(name).some((word) => word.startsWith(wanted)))
  const fitting = within.length > 0 ? within : similarNames(names, wanted)
  return fitting.toSorted(inNaturalOrder).slice(0, mostNames)
}

function similarNames(names: string[], wanted: string): string[] {
  return nearestNames(names, {
    mistakesIn: (name) => countMistakes(wanted, name.toLowerCase()),
    mostMistakes: (name) => Math.ceil(name.length / 3),
  })
}

/** Splits a name such as `laptop of ada` or `edge-fra-1` into its words, in lower case. */
function wordsOf(name: string): string[] {
  return name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
}
