import type { App } from '../app.ts'
import type { Settlement } from '../record/owed.ts'
import { readJson } from '../slack/payloads.ts'
import { LateLook, lateLookMs, later, laterAfter, margins, readSettled } from './once.ts'

const done: Settlement = { status: 'dropped' }

/** Deletes all messages with a key but the one that the record names, or else the oldest. Whoever looks again decides the same. */
export async function lookLate(app: App, facts: string): Promise<Settlement> {
  const look = readJson(LateLook, facts)
  if (!look) return done
  const { of, key, channelId, threadTs, sinceMs, untilMs } = look
  const { isSettled, ts: named } = await readSettled(app, of)
  // Its next try may find any of them, and names it only then.
  if (!isSettled) return later(lateLookMs)
  const range = { oldestMs: sinceMs - margins.beforeMs, latestMs: untilMs + margins.afterMs }
  const result = await app.slack.messenger.find({ channelId, threadTs, key, ...range, wantsAll: true })
  if (result.is === 'absent') return done
  if (result.is === 'cannot-search') {
    app.log.info({ message: key }, "Couldn't look for a second copy of a message, because Slack allows no search there")
    return done
  }
  if (result.is !== 'found') return laterAfter(result)
  const inOrder = result.all.toSorted((one, other) => Number(one) - Number(other))
  const kept = inOrder.find((ts) => ts === named) ?? inOrder[0]
  for (const ts of inOrder) {
    if (ts === kept) continue
    const removed = await app.slack.messenger.remove({ channelId, ts })
    if (removed.is !== 'sent' && removed.is !== 'refused') return laterAfter(removed)
    const text = removed.is === 'sent' ? 'Deleted the second copy of a message' : 'Slack refused to delete the second copy of a message'
    app.log.info({ message: key, problem: removed.is === 'refused' ? removed.error : undefined }, text)
  }
  return done
}
