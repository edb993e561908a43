import { z } from 'zod'
import { type ApiKey, isOwnKey, remarksOn } from '../../account/objects.ts'
import type { App } from '../../app.ts'
import { labelOf } from '../../domain/account.ts'
import type { Ability } from '../../kit/ability.ts'
import { type KeyEnd, shownEnds } from '../../kit/key-ends.ts'
import { type OwedMessage, owedMessage, sendOwedMessage } from '../../kit/owed-message.ts'
import { open, readText, replace, seal } from '../../redis/sealed.ts'
import { code, mrkdwn, nameWords } from '../../slack/text.ts'
import { keyInForm } from './end-words.ts'

/** For KEY_REVIEW: every Monday, the operators get the keys that need attention. */
export const reviewKeys: Ability = {
  senders: { 'key-review': sendOwedMessage },
  repeated: ({ config }) => (config.keyReview ? [{ name: 'key-review', everyMs: 60_000, run: review }] : []),
  create: () => ({ commands: [] }),
}

/** When the keys were reviewed last, in ms since 1970 by Redis' clock. */
const Review = z.object({ reviewedAt: z.number() })

const weekMs = 7 * 24 * 3_600_000
/** The first Monday after 1970 began, at 06:00 UTC. */
const firstMondayMs = 4 * 24 * 3_600_000 + 6 * 3_600_000
const weekOf = (at: number) => Math.floor((at - firstMondayMs) / weekMs)

/** If nobody did it on Monday, it is done as soon as somebody can. The first one is on the next Monday. */
async function review(app: App): Promise<void> {
  const { redis, keys, recordKeyring } = app
  const [before, now] = await Promise.all([readText(redis, keys.keyReview), app.store.now()])
  const found = open(recordKeyring, 'key-review', Review, before)
  const isFirst = found.is !== 'genuine'
  if (!isFirst && weekOf(found.facts.reviewedAt) >= weekOf(now)) return
  const list = isFirst ? undefined : await app.lists.apiKeys()
  if (list?.cut || list?.old) return
  const messages = messagesOn(app, list?.items ?? [], await shownEnds(app, list?.items), now)
  const owes = messages.map((message) => owedMessage(app, 'key-review', message))
  await replace(app, keys.keyReview, { before, after: seal(recordKeyring, 'key-review', { reviewedAt: now }) }, { owes })
}

const mostShown = 20

/** No message if no key needs attention. */
function messagesOn(
  app: App,
  keys: ApiKey[],
  ends: Map<string, Pick<KeyEnd, 'end' | 'isReplaced' | 'keptUntil'>>,
  now: number,
): OwedMessage[] {
  const remarked = keys
    .map((key) => ({ key, isOwn: isOwnKey(key, app) }))
    .map(({ key, isOwn }) => ({ key, isOwn, end: ends.get(key.id) }))
    .map(({ key, isOwn, end }) => ({ key, isOwn, ...remarksOn(key, now, { isOwn, recordedEnd: end?.keptUntil ?? end?.end }) }))
    .filter(({ remarks }) => remarks.length > 0)
    .toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent) || b.remarks.length - a.remarks.length)
  if (remarked.length === 0) return []
  const rest = remarked.length > mostShown ? mrkdwn` The first ${mostShown} of them:` : mrkdwn``
  const need = remarked.length === 1 ? '1 API key needs' : `${remarked.length} API keys need`
  const all = mrkdwn`All keys: ${code(`${app.config.slack.command} keys`)}`
  const items = remarked.slice(0, mostShown).map(({ key: { id, name = id, tokenLastSlice: lastSlice }, isOwn, remarks }) => {
    const [label, end] = [labelOf(name), lastSlice === undefined ? '' : mrkdwn` (token ends in ${code(lastSlice)})`]
    return {
      words: mrkdwn`${nameWords(label)}${end}: ${remarks.join(', ')}${isOwn ? ' (used by Lockkeeper)' : ''}`.text,
      button: isOwn
        ? undefined
        : { label: 'Request to revoke', of: 'api-key', kind: 'key.revoke', id, text: keyInForm({ ...ends.get(id), label, lastSlice }) },
    }
  })
  return [{ words: mrkdwn`:key: *Weekly review: ${need} attention.*${rest}`.text, items: [...items, { words: all.text }] }]
}
