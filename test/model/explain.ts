import { type Answer, type Event, type ModelRequest, outcomesOf } from './request-model.ts'
import type { Members, Name } from './staff.ts'

/** What was seen of simultaneous clicks: the answers by person, and the request that followed. */
export interface Seen {
  /** Leaves out clicks whose only answer was the changed request. */
  answers: Record<string, Answer[]>
  fits: (request: ModelRequest) => boolean
}

/**
 * Returns the request after an order of the clicks that gives exactly what was seen. Undefined if there is none: then more than their order
 * was left to chance.
 */
export function explain(before: ModelRequest, events: Event[], members: Members, seen: Seen, timePasses = false): ModelRequest | undefined {
  const left = new Map(Object.entries(seen.answers).map(([person, answers]) => [person as Name, [...answers]]))

  function search(request: ModelRequest, rest: Event[], canTimePass: boolean): ModelRequest | undefined {
    if (rest.length === 0) {
      const ends = [request, ...endsOf(canTimePass ? { ...request, isOver: true } : request)]
      return [...left.values()].every((answers) => answers.length === 0) ? ends.find(seen.fits) : undefined
    }
    for (const [index, event] of rest.entries()) {
      for (const { answer, also, next } of outcomesOf(request, event, members)) {
        const answers = left.get(event.person) ?? []
        const others = without(answers, answer === 'effect' ? [] : [answer, ...(also ? [also] : [])])
        if (!others) continue
        left.set(event.person, others)
        const found = search(next, rest.toSpliced(index, 1), canTimePass)
        if (found) return found
        left.set(event.person, answers)
      }
    }
    return canTimePass ? search({ ...request, isOver: true }, rest, false) : undefined
  }

  return search(before, events, timePasses)
}

function without(answers: Answer[], some: Answer[]): Answer[] | undefined {
  const [first, ...others] = some
  if (first === undefined) return answers
  const at = answers.indexOf(first)
  return at < 0 ? undefined : without(answers.toSpliced(at, 1), others)
}

function endsOf(request: ModelRequest): ModelRequest[] {
  if (request.state === 'waiting' && request.isOver) return [{ ...request, state: 'expired' }]
  return []
}
