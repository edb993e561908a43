import type { App } from '../../app.ts'
import { callsBefore } from '../../domain/key-ends.ts'
import { earlierNow, openMessage, readEnd } from '../../kit/key-ends.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { isPassing, later, laterAfter, passingMs, postOnce } from '../../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../../record/owed.ts'
import { keyEndMessage, undeliveredEnd } from './end-words.ts'

/** A message that is this late may have been sent before Redis lost or set back its data, so it is searched for. */
const lateMs = 10 * 60_000

const rememberMs = 9 * 24 * 3_600_000

/** Tells of a key what its signed record says: in the thread of its request, or else its owner directly. */
export async function sendKeyEnd(app: App, { id, name }: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const found = openMessage(app, id, facts)
  const now = await earlierNow(app)
  // Lockkeeper did not write it.
  if (!found) return { status: 'dropped' }
  const { key, told } = found
  const record = told === 'ended' ? undefined : await readEnd(app, key.keyId)
  // The key has ended, is gone, or got another end, meanwhile.
  if (told !== 'ended' && (record?.end !== key.end || record.gone || now >= key.end)) return { status: 'dropped' }
  const dueAt = key.end - (callsBefore.find(({ call }) => call === told)?.ms ?? 0)
  const isLate = leased.mode === 'fresh' && now - dueAt > lateMs
  const lease: Lease = isLate ? { ...leased, mode: 'unsure' } : leased
  const since = isLate ? Math.min(sinceMs, dueAt) : sinceMs
  const { command } = app.config.slack
  const words = (isDirect: boolean) => keyEndMessage(found, { isDirect, command, offers: app.catalog.offersAtEnd() })
  const outboxKey = `${name}/${id}`
  const thread =
    key.channelId !== undefined && key.threadTs !== undefined
      ? { channelId: key.channelId, threadTs: key.threadTs, key: outboxKey }
      : undefined
  const inThread = thread && (await postOnce(app, { message: words(false), place: thread, sinceMs: since }, lease))
  const isRefused = inThread?.is === 'refused' && !isPassing(inThread.error)
  const posted =
    inThread && !isRefused
      ? inThread
      : await postOnce(app, { message: words(true), place: { channelId: key.requester, key: outboxKey }, sinceMs: since }, lease)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled', rememberMs }
  if (posted.is !== 'refused') return laterAfter(posted)
  if (isPassing(posted.error)) return later(passingMs)
  await notifyOperators(app, 'report-undeliverable', undeliveredEnd(key, posted.error), { about: id })
  return { status: 'settled', refused: posted.error, rememberMs }
}
