import { z } from 'zod'
import { findInList } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { isSameCreation } from '../../domain/account.ts'
import type { Moment, Observation } from '../../domain/change.ts'
import { longestEndMs, type NewKeyEnd, shortestEndMs, wholeMinute } from '../../domain/key-ends.ts'
import type { ChangeKind, EndsTerms } from '../../domain/policy.ts'
import { formatDuration, moment, type Phrase, phrase, utcTime } from '../../domain/text.ts'
import { isElapsed, isStart, readStart, type StartProblem, timeWords } from '../../domain/times.ts'
import { type Entered, type Field, oneOf, text } from '../../kit/change-form.ts'
import { finding } from '../../kit/findings.ts'
import { startProblem } from '../../messages/submit-words.ts'
import { endsTerms } from '../../rights/judge.ts'
import { option } from '../../slack/blocks.ts'
import { notRequested, Refusal } from '../../slack/errors.ts'
import { readMetadata } from '../../slack/payloads.ts'
import { code, type Mrkdwn, mrkdwn, ownWords, truncate } from '../../slack/text.ts'

// What the kinds of change share by which keys get an end: the fields, the typed words, the findings.

const field = 'ends'
const ms = z.number()

/** Why a key can't get this end, or none. */
export const endFindings = {
  'no-state-key': finding('Keys that end need STATE_KEY, which is not set.', {
    field,
    next: "Lockkeeper's operators can set it. Until then, request a key that never ends.",
  }),
  'end-past': finding({ endsAt: ms }, ({ endsAt }) => phrase`The end, ${moment(endsAt)}, is past. Choose a later one.`, { field }),
  'end-unread': finding(
    { rule: z.string() },
    ({ rule }) =>
      phrase`The rule “${[rule]}” limits how long keys live, and the account API didn't show this key's end. Try again in a minute.`,
  ),
  'end-required': finding({ rule: z.string() }, ({ rule }) => phrase`The rule “${[rule]}” requires an end.`, { field }),
  'end-too-late': finding(
    { rule: z.string(), longestMs: ms },
    ({ rule, longestMs }) => phrase`The rule “${[rule]}” allows a key for at most ${[formatDuration(longestMs)]}.`,
    { field },
  ),
}

const dayMs = 24 * 3_600_000
const days = [1, 7, 30, 90]
const [onDate, never] = ['date', 'never']
const dateField = 'date'

function daysOption(count: number) {
  return option({ text: count === 1 ? '1 day' : `${count} days`, value: `${count}d` })
}

/** The choices that the rule allows, with the longest one chosen that is at most its usual one, or 30 days. */
function optionsFor({ required, longestMs = longestEndMs, defaultMs = 30 * dayMs, noEnds }: EndsTerms = { required: false }) {
  const usual = defaultMs / dayMs
  const counts = [...new Set([...days, ...(Number.isInteger(usual) ? [usual] : [])])].toSorted((a, b) => a - b)
  const allowed = counts.filter((count) => count * dayMs <= longestMs)
  const date = option({ text: 'On a date', value: onDate, description: 'Write it below' })
  const withoutEnd = option({ text: 'Never', value: never, description: noEnds ? 'Keys that end need STATE_KEY, which is not set' : '' })
  const all = [...allowed.map(daysOption), date, ...(required ? [] : [withoutEnd])]
  const chosen = noEnds && !required ? never : `${allowed.findLast((count) => count <= usual) ?? allowed[0]}d`
  return { all, chosen: all.find(({ value }) => value === chosen) ?? date }
}

export function endFields({ isExtension = false } = {}): { ends: Field; date: Field } {
  const words = {
    label: 'Ends',
    hint: isExtension
      ? 'Counted from its present end.'
      : 'At its end, Lockkeeper deletes the key. You get a message 7 days and 1 day before, if it lives longer than that, and can request a later end.',
  }
  return {
    ends: {
      ...words,
      element(actionId: string, entered: Entered, metadata: string) {
        const terms = readMetadata(metadata)?.ends
        const { all, chosen } = optionsFor(isExtension ? { ...terms, required: true } : terms)
        const [first = chosen, ...others] = all
        const before = typeof entered === 'string' ? all.find(({ value }) => value === entered) : undefined
        return oneOf([first, ...others], words).element(actionId, (before ?? chosen).value, metadata)
      },
    },
    date: text({
      label: 'Date',
      hint: 'For “On a date”: such as 2026-12-24, 2026-12-24 18:00 or in 45 days.',
      optional: true,
      maxLength: 100,
    }),
  }
}

/** Fills the fields with an earlier end. One that is past is chosen again. */
export function filledEnd(endsAt: NewKeyEnd | undefined): { ends?: string; date?: string } {
  if (typeof endsAt === 'object') {
    const count = endsAt.afterMs / dayMs
    return days.includes(count) ? { ends: `${count}d` } : { ends: onDate, date: `in ${formatDuration(endsAt.afterMs)}` }
  }
  if (endsAt === undefined) return { ends: never }
  return endsAt <= Date.now() ? {} : { ends: onDate, date: utcTime(endsAt) }
}

/** Returns the end in the fields of a form, as it could be typed. Undefined for never. Throws a Refusal. */
export function enteredEnd({ ends, date }: { ends: string; date: string }): string | undefined {
  // A date beside another choice may be the one that is meant.
  if (date !== '' && ends !== onDate)
    throw new Refusal(
      'end-not-possible',
      mrkdwn`Not requested: there is a date, and another end is chosen. Choose “On a date”, or leave the date empty.`,
      { field: dateField },
    )
  return ends === never ? undefined : ends === onDate ? date : ends
}

/**
 * Splits `for 30d`, `in 30d` or `until 2026-12-24` from the end of typed words. With `bare`, also a time without *for*: `30d`, `30 days`, and with
 * `first`, also one that is before the others, and a number that lacks its unit.
 */
export function splitEnd(args: string[], { bare = false, first = false } = {}): { args: string[]; end?: string } {
  const isUntil = (word = '') => /^until$/i.test(word)
  const at = args.findLastIndex((word, index) => isUntil(word) || /^for$/i.test(word) || (/^in$/i.test(word) && !isUntil(args[index - 1])))
  const end = args.slice(at + 1).join(' ')
  const isEnd = isUntil(args[at]) ? end !== '' : /^(?:\d|an? |half )/.test(end)
  if (isEnd && at >= 0) return at === 0 ? { args } : { args: args.slice(0, at), end: /^in$/i.test(args[at] ?? '') ? `in ${end}` : end }
  const isTime = (text: string) => isElapsed(text) || (first && isNumber(text))
  const count = bare ? [1, 2].find((words) => args.length > words && isTime(args.slice(-words).join(' '))) : undefined
  if (count !== undefined) return { args: args.slice(0, -count), end: args.slice(-count).join(' ') }
  const before = first ? [1, 2].find((words) => args.length > words && isElapsed(args.slice(0, words).join(' '))) : undefined
  return before === undefined ? { args } : { args: args.slice(before), end: args.slice(0, before).join(' ') }
}

/** A time of day elsewhere, and here probably days. */
const isNumber = (text: string) => /^(?:in )?\d+$/i.test(text)

/** Whether `for 30d`, `in 30d` or `until 2026-12-24` after *because* is an end that `args` lack. */
export function isLateEnd(typed: string, args: string[]): boolean {
  const [, end = ''] = /^(?:for|in|until) (.+)$/i.exec(typed) ?? []
  const isEnd = isElapsed(end) || [end, `${end} 23:59`].some(isStart)
  return end !== '' && isEnd && splitEnd(args, { bare: true, first: true }).end === undefined
}

/** Returns when a new key ends by what was typed: at a time, or so long after its creation. Throws a Refusal. */
export async function readNewEnd(app: App, typed: string, userId: string): Promise<NewKeyEnd> {
  const elapsed = typed.replace(/^in /i, '')
  return isElapsed(elapsed) ? { afterMs: await readEnd(app, elapsed, userId, 0) } : readEnd(app, typed, userId)
}

/** What a new key gets by its rule, if nothing was typed. */
export function usualEnd(app: App, kind: ChangeKind, channelId: string): NewKeyEnd | undefined {
  const { defaultMs } = endsTerms(app, kind, channelId)
  return defaultMs === undefined ? undefined : { afterMs: wholeMinute(defaultMs) }
}

/** A day without a time is that day to its end. `from`: what `30d` counts from, in ms since 1970. Default: now. `in 30d` counts from now. */
export async function readEnd(app: App, typed: string, userId: string, from?: number): Promise<number> {
  const refuse = (why: Mrkdwn): never => {
    throw new Refusal('end-not-possible', ownWords(notRequested(why.text)), { field: dateField })
  }
  if (typed === '') refuse(mrkdwn`Not requested: write the date on which the key ends.`)
  const [zone, today] = await Promise.all([app.directory.zone(userId), app.store.now()])
  if (isNumber(typed)) refuse(endProblem(typed, { code: 'unreadable' }, zone))
  const now = isElapsed(typed) ? (from ?? today) : today
  const options = { now, zone, longestMs: longestEndMs }
  const first = readStart(isElapsed(typed) ? `in ${typed}` : typed, options)
  const read = 'problem' in first && first.problem.code === 'unreadable' ? readStart(`${typed} 23:59`, options) : first
  const isShort = 'problem' in read ? isElapsed(typed) && read.problem.code === 'past' : read.at - now < shortestEndMs
  if (isShort) refuse(mrkdwn`A key ends after one minute at the earliest.`)
  if ('problem' in read) return refuse(endProblem(typed, read.problem, zone))
  return wholeMinute(read.at)
}

function endProblem(typed: string, problem: StartProblem, zone: string) {
  if (problem.code === 'too-far') return mrkdwn`A key ends within 10 years.`
  if (problem.code === 'past') return mrkdwn`${timeWords(problem.at, zone, { hasYear: true })} is past. Write a later date.`
  if (problem.code === 'ambiguous') return startProblem(typed, problem, zone)
  return mrkdwn`${code(truncate(typed, 80, 'plain'))} isn't an end that Lockkeeper can read. Write days, such as 30d, or a date, such as 2026-12-24 18:00.`
}

/** How long a key works: ` for 30 d` from its creation, or until a time. */
export function lastsWords(end: NewKeyEnd): Phrase {
  return typeof end === 'number' ? phrase` until ${moment(end)}` : [` for ${formatDuration(end.afterMs)}`]
}

/** The end of a key that was handed over. */
export function endsWords(endsAt: number | undefined): Phrase {
  return endsAt === undefined ? [] : phrase` It ends ${moment(endsAt)}.`
}

/** `refuse`: of the findings of a kind, which has `endFindings`. */
export function requireEndable(
  { config }: App,
  endsAt: NewKeyEnd,
  refuse: (finding: { code: 'no-state-key' } | { code: 'end-past'; endsAt: number }) => never,
): void {
  if (config.signsWithApiKey) refuse({ code: 'no-state-key' })
  if (typeof endsAt === 'number' && endsAt <= Date.now()) refuse({ code: 'end-past', endsAt })
}

/** How the creation of a key can end that nobody saw. */
export const creationFindings = {
  'created-unseen': finding(
    { resourceId: z.string() },
    ({ resourceId }) => `Nobody saw the token of the created key (${resourceId}), so Lockkeeper deleted it.`,
  ),
  'no-such-key': finding(
    "No key of that name is on the account. It wasn't created, or it's already deleted. If it appears later, Lockkeeper deletes it.",
  ),
}

/** Deletes a new key whose token nobody has seen. A key that was used counts as seen. */
export async function observeCreation({ account: { apiKeys } }: App, name: string, { isUnsettled }: Moment): Promise<Observation> {
  const find = async () => findInList(await apiKeys.list(), (key) => isSameCreation(key.name, name))
  const key = await find()
  if (key?.lastUsedAt !== undefined) return { is: 'done' }
  if (key) {
    await apiKeys.delete(key.id)
    if (await find()) return { is: 'unclear' }
    return { is: 'failed', cause: { code: 'created-unseen', resourceId: key.id }, corrects: true }
  }
  if (isUnsettled) return { is: 'unclear' }
  return { is: 'not-started', cause: { code: 'no-such-key' } }
}
