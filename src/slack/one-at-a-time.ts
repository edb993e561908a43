import { Refusal } from './errors.ts'
import type { Mrkdwn } from './text.ts'

/** Runs one work of a name at a time in this process, so that nobody can fill it. Refuses others meanwhile, with these words. */
export function createOneAtATime(words: Mrkdwn) {
  const busy = new Set<string>()

  return async function runAlone<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (busy.has(name)) throw new Refusal('in-progress', words)
    busy.add(name)
    try {
      return await work()
    } finally {
      busy.delete(name)
    }
  }
}
