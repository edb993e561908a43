import type { App } from '../app.ts'
import { watchMessage } from '../messages/watches.ts'
import { endWatches, mayWatch } from '../requests/watching.ts'
import { isPassing, type Lease, later, laterAfter, type Owed, passingMs, postOnce, type Settlement } from './once.ts'

/** Tells what a watch has seen, to those of its people who may read, or to the operators. Nobody gets what Lockkeeper did not sign. */
export async function sendWatch(app: App, { id, name }: Owed, held: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const owed = app.watching.genuine(id, facts)
  const channelId = owed && (owed.watchers.length > 0 ? owed.channelId : app.config.opsChannel)
  if (!owed || channelId === undefined) return { status: 'dropped' }
  const rights = await Promise.all(owed.watchers.map((watcher) => mayWatch(app, watcher)))
  if (rights.includes(undefined)) return later(passingMs)
  const userIds = owed.watchers.filter((_, index) => rights[index]).map(({ userId }) => userId)
  await endWatches(
    app,
    owed.watchers.filter((_, index) => !rights[index]),
  )
  if (owed.watchers.length > 0 && userIds.length === 0) return { status: 'dropped' }
  const message = watchMessage(owed, userIds)
  const key = `${name}/${id}`
  const posted = await postOnce(app, { message, place: { channelId, key }, sinceMs }, held)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  if (posted.is !== 'refused') return laterAfter(posted)
  return isPassing(posted.error) || userIds.length === 0 ? later(passingMs) : { status: 'dropped', refused: posted.error }
}
