import { countMistakes, nearestNames } from '../../../domain/text/nearest.ts'

const mostSuggestions = 2

/** A command that was probably meant, and how many of the typed words stand for it. The others are its arguments. */
export interface Suggestion {
  command: string
  typed: number
}

/**
 * Finds the commands that were probably meant: the nearest one, at most two that are equally near, or none. It recognizes mistyped words,
 * and a last word without the words before it (`move`).
 */
export function suggestCommands(known: string[], words: string[]): Suggestion[] {
  const near = nearestNames(known, { mistakesIn: (command) => readingOf(words, command).mistakes, mostMistakes })
  return near.slice(0, mostSuggestions).map((command) => ({ command, typed: readingOf(words, command).typed }))
}

/**
 * Reads the typed words as a command with the fewest mistakes. It compares only as many words as the command has: the others are arguments.
 */
function readingOf(words: string[], command: string): { mistakes: number; typed: number } {
  const own = command.split(' ')
  const first = words[0] ?? ''
  const readings = [
    { mistakes: countMistakes(words.slice(0, own.length).join(' '), command), typed: Math.min(own.length, words.length) },
    { mistakes: countMistakes(first, own.at(-1) ?? '') + own.length - 1, typed: 1 },
  ]
  return readings.reduce((best, reading) => (reading.mistakes < best.mistakes ? reading : best))
}

/**
 * Allows half as many mistakes as the longest word has letters, because two letters that changed places count as two mistakes. Of three letters
 * two must be right: `ips` means `ip list` rather than `vms`.
 */
function mostMistakes(command: string): number {
  const longest = Math.max(...command.split(' ').map((word) => word.length))
  return longest > 3 ? Math.ceil(longest / 2) : 1
}

/** Finds the commands whose first word was probably meant: `ips` is near to `ip`, the first word of `ip move` and `ip list`. */
export function suggestGroup(known: string[], [first = '']: string[]): Suggestion[] {
  const firstWords = [...new Set(known.flatMap((command) => (command.includes(' ') ? (command.split(' ')[0] ?? []) : [])))]
  const [nearest] = nearestNames(firstWords, { mistakesIn: (word) => countMistakes(first, word), mostMistakes: () => 1 })
  if (nearest === undefined) return []
  return known.filter((command) => command.startsWith(`${nearest} `)).map((command) => ({ command, typed: 1 }))
}
