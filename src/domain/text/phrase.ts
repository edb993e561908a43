/** A person of Slack in a phrase, by user id. */
interface PersonInPhrase {
  person: string
}

/** The person that a name belongs to, by user id: `, for @Ada` after the name. Plain text leaves it out, because it could only show the id. */
interface OwnerInPhrase {
  owner: string
}

/** A time in a phrase, in ms since 1970. A message shows it in the reader's time zone, and plain text in UTC. */
interface TimeInPhrase {
  time: number
}

type Part = string | { name: string } | PersonInPhrase | OwnerInPhrase | TimeInPhrase

/**
 * A text in which names from outside and people are marked, so that each place can show them in its own way: a heading as plain text, a
 * message as code and mentions. The strings in it are Lockkeeper's own words.
 */
export type Phrase = readonly Part[]

type Value = string | number | PersonInPhrase | OwnerInPhrase | TimeInPhrase | Phrase

/** Builds a phrase: `` phrase`Move ${address}: ${from} → ${to}` ``. Interpolated strings are names from outside. A number is Lockkeeper's own. */
export function phrase(strings: TemplateStringsArray, ...values: Value[]): Phrase {
  return strings.flatMap((own, index): Part[] => {
    const value = values[index]
    return [own, ...(value === undefined ? [] : partsOf(value))].filter((part) => part !== '')
  })
}

/** Marks a person. */
export function person(userId: string): PersonInPhrase {
  return { person: userId }
}

/** Marks the person that the name before it belongs to. */
export function owner(userId: string): OwnerInPhrase {
  return { owner: userId }
}

/** Marks a time, in ms since 1970. */
export function moment(time: number): TimeInPhrase {
  return { time }
}

/** Shows a time in UTC: `2026-11-20 14:02 UTC`. `at`: in ms since 1970. */
export function utcTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Leaves out that something is for this person, or for anybody. */
export function withoutOwner(phrase: Phrase, userId?: string): Phrase {
  return phrase.filter((part) => typeof part === 'string' || !('owner' in part) || (userId !== undefined && part.owner !== userId))
}

/** Lists the first names, and counts the others: `web-1, web-2 and 3 more`. */
export function someNames(names: readonly string[], most: number): Phrase {
  const shown = names.slice(0, most).flatMap((name, index) => phrase`${[index === 0 ? '' : ', ']}${name}`)
  return names.length > most ? phrase`${shown} and ${names.length - most} more` : shown
}

/** Returns the phrase as plain text. A name that could pass for a part of the sentence is in quotation marks. */
export function phraseText(phrase: Phrase): string {
  return phrase.map(partText).join('')
}

function partText(part: Part): string {
  if (typeof part === 'string') return part
  if ('owner' in part) return ''
  if ('time' in part) return utcTime(part.time)
  return 'person' in part ? part.person : setApart(part.name)
}

function partsOf(value: Value): readonly Part[] {
  if (typeof value === 'string') return [{ name: value }]
  if (typeof value === 'number') return [String(value)]
  return 'person' in value || 'owner' in value || 'time' in value ? [value] : value
}

function setApart(name: string): string {
  return /^[^\s→“”]+$/u.test(name) ? name : `“${name.replaceAll(/[“”]/g, '"')}”`
}
