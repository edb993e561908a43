import { withoutInvisible } from '../text/invisible.ts'
import { type Phrase, phrase } from '../text/phrase.ts'

const mostListed = 3

/** Other things with the same name: their number, and the ids of up to three of them. */
interface Namesakes {
  others: string[]
  count: number
}

/** Finds the others whose name looks the same to people. Undefined if there are none. */
export function findNamesakes(name: string, all: { id: string; name: string }[], ownId?: string): Namesakes | undefined {
  const others = all.filter((other) => other.id !== ownId && looksSame(other.name, name)).map(({ id }) => id)
  return others.length === 0 ? undefined : { others: others.slice(0, mostListed), count: others.length }
}

/** Lists them as the subject of a sentence: `Another server (sv_9) is`. */
export function namesakesAre({ others, count }: Namesakes, what: { one: string; many: string }): Phrase {
  const listed = others.flatMap((id, index) => (index === 0 ? phrase`${id}` : phrase`, ${id}`))
  const all = count > others.length ? [...listed, ' …'] : listed
  return count === 1 ? phrase`Another ${[what.one]} (${all}) is` : phrase`${count} other ${[what.many]} (${all}) are`
}

/** Whether people cannot tell one name from the other. */
export function looksSame(a: string, b: string): boolean {
  return shown(a) === shown(b)
}

function shown(name: string): string {
  return withoutInvisible(name).toLowerCase()
}
