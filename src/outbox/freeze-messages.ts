import type { App } from '../app.ts'
import { freezeMessage } from '../messages/freezes.ts'
import { guardStore } from '../redis/connect.ts'
import { freezeMessageId, freezeOnAt } from '../requests/freeze.ts'
import { isPassing, type Lease, later, laterAfter, type Owed, postOnce, type Settlement } from './once.ts'

/** As long as a freeze with an end can last, and longer: where its message is must be known until then. */
const rememberMs = 30 * 24 * 3_600_000

/** The wait after a refusal that passes, or until the operators let Lockkeeper post. */
const refusedRetryMs = 60_000

/**
 * Tells of a freeze what its signed record says, where that was set or to the operators. Redis has the same record in its message, so nobody who
 * can write there chooses the words or the channel.
 */
export async function sendFreeze(app: App, { id, name }: Owed, held: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const record = app.freezes.genuine(facts)
  const [, number, when, where] = /^freeze-(\d+)-(set|over)-(here|ops)$/.exec(id) ?? []
  const channelId = where === 'ops' ? app.config.opsChannel : record?.channelId
  const [freeze, now] = await Promise.all([app.freezes.read(), app.store.now()])
  const isCurrent = freeze.record?.number === record?.number
  const isOver = when === 'over'
  // Its content is signed, but not in which message it belongs.
  if (!record || String(record.number) !== number || channelId === undefined || (isOver && !isCurrent)) return { status: 'dropped' }
  const hasButton = where === 'here' && isCurrent && freezeOnAt(freeze, now) !== undefined
  const message = freezeMessage(record, { isOver, hasButton, isElsewhere: where === 'ops' })
  const posted = await postOnce(app, { message, place: { channelId, key: `${name}/${id}` }, sinceMs }, held)
  if (posted.is === 'sent' || posted.is === 'found') {
    await removeButton(app, isOver ? record.number : record.ends)
    return { status: 'settled', cardTs: posted.ts, rememberMs }
  }
  if (posted.is !== 'refused') return laterAfter(posted)
  return where === 'ops' || isPassing(posted.error) ? later(refusedRetryMs) : { status: 'dropped' }
}

/** A press of a button that stays, because Slack is away now, is answered that the freeze is over. */
async function removeButton({ redis, keys, freezes, slack }: App, number: number | undefined): Promise<void> {
  if (number === undefined) return
  const id = freezeMessageId(number, 'set', 'here')
  const [facts, ts] = await guardStore(() => redis.hmget(keys.message(id), 'facts', 'cardTs'))
  const record = freezes.genuine(facts ?? '')
  if (record?.channelId === undefined || !ts) return
  const place = { channelId: record.channelId, ts: String(JSON.parse(ts)), key: `freeze/${id}` }
  await slack.messenger.update(place, freezeMessage(record, { hasEnded: true }))
}
