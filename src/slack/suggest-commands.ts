import { distance } from 'fastest-levenshtein'

const mostSuggestions = 2

/**
 * The commands that were probably meant: the nearest, two at most where several are as near, none when nothing is. It understands
 * mistyped words, words run together (`ip-move`) and a last word without those before it (`move`). Pure.
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

/** What follows the command's own words are its arguments, so only as many words are compared. */
function mistakesIn(typed: string[], command: string): number {
  const own = command.split(' ')
  const first = typed[0] ?? ''
  const readings = [distance(typed.slice(0, own.length).join(' '), command), distance(first, command)]
  return Math.min(...readings, distance(first, own.at(-1) ?? '') + own.length - 1)
}

/** Half of its longest word, because two letters that changed places are two mistakes. */
function mostMistakes(command: string): number {
  return Math.ceil(Math.max(...command.split(' ').map((word) => word.length)) / 2)
}
