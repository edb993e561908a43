import { countMistakes, nearestNames } from '../../../domain/text/nearest.ts'

const mostSuggestions = 2

/**
 * Finds the commands that were probably meant: the nearest one, at most two that are equally near, or none. It recognizes mistyped words,
 * words run together (`ip-move`) and a last word without the words before it (`move`).
 */
export function suggestCommands(known: string[], words: string[]): string[] {
  return nearestNames(known, { mistakesIn: (command) => mistakesIn(words, command), mostMistakes }).slice(0, mostSuggestions)
}

/** Counts the mistakes in the typed words. It compares only as many words as the command has: the others are arguments. */
function mistakesIn(words: string[], command: string): number {
  const own = command.split(' ')
  const first = words[0] ?? ''
  const readings = [countMistakes(words.slice(0, own.length).join(' '), command), countMistakes(first, command)]
  return Math.min(...readings, countMistakes(first, own.at(-1) ?? '') + own.length - 1)
}

/** Allows half as many mistakes as the longest word has letters, because two letters that changed places count as two mistakes. */
function mostMistakes(command: string): number {
  return Math.ceil(Math.max(...command.split(' ').map((word) => word.length)) / 2)
}

/** Finds the commands whose first word was probably meant: `ips` is near to `ip`, the first word of `ip move` and `ip list`. */
export function suggestGroup(known: string[], [first = '']: string[]): string[] {
  const firstWords = [...new Set(known.flatMap((command) => (command.includes(' ') ? (command.split(' ')[0] ?? []) : [])))]
  const [nearest] = nearestNames(firstWords, { mistakesIn: (word) => countMistakes(first, word), mostMistakes: () => 1 })
  return nearest === undefined ? [] : known.filter((command) => command.startsWith(`${nearest} `))
}
