import { type ApiKey, isOwnKey, remarksOn } from '../../account/objects.ts'
import type { App } from '../../app.ts'
import { labelOf } from '../../domain/account.ts'
import type { Feature } from '../../kit/change-feature.ts'
import { code, mrkdwn, nameWords } from '../../slack/text.ts'
import type { OutsideMessage } from '../outside/differences.ts'
import { knownEnds } from './ends.ts'

/** For KEY_REVIEW: every Monday, the operators get the keys that need attention. */
export const reviewKeys = { create }

function create(app: App): Feature {
  return { commands: [], repeated: app.config.keyReview ? [{ name: 'key-review', everyMs: 60_000, run: review }] : [] }
}

const weekMs = 7 * 24 * 3_600_000
/** The first Monday after 1970 began, at 06:00 UTC. */
const firstMondayMs = 4 * 24 * 3_600_000 + 6 * 3_600_000
const weekOf = (at: number) => Math.floor((at - firstMondayMs) / weekMs)

/** If nobody did it on Monday, it is done as soon as somebody can. The first one is on the next Monday. */
async function review(app: App): Promise<void> {
  const [read, now] = await Promise.all([app.outside.read(), app.store.now()])
  const isDue = (reviewedAt: number) => weekOf(reviewedAt) < weekOf(now)
  const { reviewedAt } = read.outside
  if (reviewedAt !== undefined && !isDue(reviewedAt)) return
  const list = reviewedAt === undefined ? undefined : await app.lists.apiKeys()
  if (list?.cut || list?.old) return
  const ends = await knownEnds(app)
  await app.outside.change((before) => {
    if (before.reviewedAt !== undefined && !isDue(before.reviewedAt)) return undefined
    return { next: { ...before, reviewedAt: now }, messages: messagesOn(app, list?.items ?? [], ends, now) }
  })
}

const mostShown = 20

/** No message if no key needs attention. */
function messagesOn(app: App, keys: ApiKey[], ends: Map<string, { end: number }>, now: number): Omit<OutsideMessage, 'id'>[] {
  const remarked = keys
    .map((key) => ({ key, isOwn: isOwnKey(key, app) }))
    .map(({ key, isOwn }) => ({ key, isOwn, ...remarksOn(key, now, { isOwn, recordedEnd: ends.get(key.id)?.end }) }))
    .filter(({ remarks }) => remarks.length > 0)
    .toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent) || b.remarks.length - a.remarks.length)
  if (remarked.length === 0) return []
  const rest = remarked.length > mostShown ? mrkdwn` The first ${mostShown} of them:` : mrkdwn``
  const need = remarked.length === 1 ? '1 API key needs' : `${remarked.length} API keys need`
  const all = mrkdwn`All keys: ${code(`${app.config.slack.command} keys`)}`
  const items = remarked.slice(0, mostShown).map(({ key: { id, name = id }, isOwn, remarks }) => ({
    words: mrkdwn`${nameWords(labelOf(name))}: ${remarks.join(', ')}${isOwn ? ' (used by Lockkeeper)' : ''}`.text,
    button: isOwn ? undefined : { label: 'Request to revoke', of: 'api-key', kind: 'key.revoke', id, text: labelOf(name) },
  }))
  return [{ words: mrkdwn`:key: *Weekly review: ${need} attention.*${rest}`.text, items: [...items, { words: all.text }] }]
}
