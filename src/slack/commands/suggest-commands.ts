import { distance } from 'fastest-levenshtein'

const mostSuggestions = 2

/**
 * Finds the commands that were probably meant: the nearest one, at most two that are equally near, or none. It recognizes mistyped words,
 * words run together (`ip-move`) and a last word without the words before it (`move`).
 */
export function suggestCommands(known: string[], words: string[]): string[] {
  const typed = words.map((word) => word.toLowerCase())
  const near = known
    .map((command) => ({ command, mistakes: mistakesIn(typed, command) }))
    .filter(({ command, mistakes }) => mistakes <= mostMistakes(command))
  const least = Math.min(...near.map(({ mistakes }) => mistakes))
  return near
    .filter(({ mistakes }) => mistakes === least)
    .map(({ command }) => command)
    .slice(0, mostSuggestions)
}

/** Counts the mistakes in the typed words. It compares only as many words as the command has: the others are arguments. */
function mistakesIn(typed: string[], command: string): number {
  const own = command.split(' ')
  const first = typed[0] ?? ''
  const readings = [distance(typed.slice(0, own.length).join(' '), command), distance(first, command)]
  return Math.min(...readings, distance(first, own.at(-1) ?? '') + own.length - 1)
}

/** Allows half as many mistakes as the longest word has letters, because two letters that changed places count as two mistakes. */
function mostMistakes(command: string): number {
  return Math.ceil(Math.max(...command.split(' ').map((word) => word.length)) / 2)
}
