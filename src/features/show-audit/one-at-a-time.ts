import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'

/**
 * Runs one piece of work at a time for each person in this process, so that nobody can fill it with searches. Throws a Refusal while the
 * person's last one is running.
 */
export function createOneAtATime() {
  const busy = new Set<string>()

  return async function runAlone<T>(userId: string, work: () => Promise<T>): Promise<T> {
    if (busy.has(userId)) throw new Refusal(mrkdwn`Your last search of the audit is still running. Search again when its result is here.`)
    busy.add(userId)
    try {
      return await work()
    } finally {
      busy.delete(userId)
    }
  }
}
