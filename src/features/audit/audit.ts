import type { App } from '../../app.ts'
import type { FoundEntry } from '../../audit/find.ts'
import type { Request } from '../../domain/request.ts'
import { isElapsed, readStart } from '../../domain/times.ts'
import type { OwnAbility } from '../../kit/ability.ts'
import { stateWords } from '../../messages/request-words.ts'
import { startProblem } from '../../messages/submit-words.ts'
import { stateOfAct } from '../../record/steps.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Listing } from '../../slack/listing.ts'
import { createOneAtATime } from '../../slack/one-at-a-time.ts'
import type { Details } from '../../slack/table.ts'
import { channelMention, code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, userGroupMention } from '../../slack/text.ts'
import {
  attemptWords,
  causesInWords,
  emergencyWords,
  isAct,
  subjectOf,
  typedActs,
  type WordsOfChanges,
  whyRefused,
  whyUnverified,
  wordsOfAct,
} from './entry-words.ts'
import { isRequestId, listedRows, storyDetails, storyRow } from './rows.ts'
import { findStories, readStory, type Story } from './stories.ts'

export const showAudit: OwnAbility = {
  create: (app) => {
    const runAlone = createOneAtATime(mrkdwn`Your last search of the audit is still running. Search again when its result is here.`)
    return {
      commands: [
        {
          words: 'audit',
          usage: '[word…] [since 3d]',
          group: 'View',
          summary: 'Each request with its requester, decision and outcome',
          details: mrkdwn`Newest first, with the steps of each request on demand. Words filter by person (a mention, or ${code('me')}), channel, kind of change, action (${code('approve')}), address, name or id. All of them must match one entry of a request. ${code('since 3d')} leaves out what is older, ${code('before 1d')} what is newer, ${code('2026-11-01')} all but that day.`,
          examples: ['203.0.113.10', 'me since 3d'],
          takesMentions: true,
          need: 'read',
          run: async (call) => {
            const { userId } = call.slashCommand.origin
            await call.list(await runAlone(userId, () => auditListing(app, call.args, userId)))
          },
        },
      ],
      details: { 'audited-request': (id, { userId }) => runAlone(userId, () => stepsOf(app, id)) },
    }
  },
}

async function auditListing(app: App, typed: string[], me: string): Promise<Listing> {
  const { catalog } = app
  const { words, times } = await takeTimes(app, typed, me)
  const filter = readFilter(words, me, catalog, times)
  const found = await findStories(app, filter.fits)
  const { stories } = found
  const links = await linksOf(app, stories)
  const rows = stories.map((story) => storyRow(story, links.get(story.requestId ?? ''), catalog))
  const matching = typed.length === 0 ? '' : mrkdwn` matching ${filter.shown}`
  // By the newest entry of the last row that fits, in whole minutes: the next search may show some rows again, and leaves out none.
  const oldestAt = found.isCut ? stories.at(-1)?.newest.at : undefined
  const ago = oldestAt === undefined ? undefined : Math.max(0, Math.floor(((await app.store.now()) - oldestAt) / 60_000))
  const older = ago === undefined ? mrkdwn`` : mrkdwn` Older requests may match: add ${code(`before ${ago}m`)}, or words.`
  return {
    title: found.isCut
      ? mrkdwn`Audit: the newest ${rows.length} results${matching}`
      : mrkdwn`Audit: ${rows.length} ${rows.length === 1 ? 'result' : 'results'}${matching}, newest first`,
    ...listedRows(rows),
    empty: typed.length === 0 ? mrkdwn`The audit has no entries yet.` : mrkdwn`No entry matches ${filter.shown}. ${noMatchTip}`,
    notes: searchNotes(found, older),
  }
}

/** Of the entries from then on, and before. In ms since 1970. */
interface Bounds {
  from?: number
  before?: number
  shown: Mrkdwn
}

const isDay = /^(?:\d{4}-\d\d-\d\d|\d{1,2}([./-])\d{1,2}\1\d{4})$/

/** Takes `since 3d`, `from 2026-11-01`, `before 1d`, `until 2026-11-30` and `2026-12-01` out of the words. */
async function takeTimes(app: App, words: string[], me: string): Promise<{ words: string[]; times: Bounds[] }> {
  const at = words.findIndex((word, index) => isDay.test(word) || (/^(?:since|from|before|until)$/i.test(word) && index + 1 < words.length))
  if (at < 0) return { words, times: [] }
  const [first = '', second = ''] = words.slice(at)
  const [mark, typed] = isDay.test(first) ? ['on', first] : [first.toLowerCase().replace('from', 'since'), second]
  const [zone, now] = await Promise.all([app.directory.zone(me), app.store.now()])
  const refused = (why: Mrkdwn) => new Refusal('wrong-usage', why)
  const read = (time: string) => {
    const start = readStart(isElapsed(typed) ? `in ${typed}` : `${typed} ${time}`, { now, zone, longestMs: longestSinceMs })
    if ('at' in start) return isElapsed(typed) ? now - (start.at - now) : start.at
    if (start.problem.code === 'past') return start.problem.at
    if (start.problem.code === 'ambiguous') throw refused(startProblem(typed, start.problem, zone))
    throw refused(mrkdwn`${code(typed)} isn't a time, such as ${code('3d')}.`)
  }
  const from = read('00:00')
  if (from > now) throw refused(mrkdwn`${code(typed)} is in the future. Write an earlier time, such as ${code('3d')}.`)
  const before = mark === 'before' || isElapsed(typed) ? from : read('23:59') + 60_000
  const shown = mrkdwn`${mark} ${code(typed)}`
  const bounds = mark === 'on' ? { from, before, shown } : mark === 'since' ? { from, shown } : { before, shown }
  const others = await takeTimes(app, words.toSpliced(at, mark === 'on' ? 1 : 2), me)
  return { words: others.words, times: [bounds, ...others.times] }
}

/** Entries are kept for less. */
const longestSinceMs = 3_650 * 24 * 3_600_000

async function linksOf({ store, slack }: App, stories: Story[]): Promise<Map<string, string | undefined>> {
  const ids = stories.flatMap(({ requestId }) => (requestId !== undefined && isRequestId(requestId) ? [requestId] : []))
  const requests: Request[] = ids.length > 0 ? await store.findMany(ids) : []
  return new Map(requests.map((request) => [request.id, slack.identity.linkTo(request)]))
}

async function stepsOf(app: App, requestId: string): Promise<Details | undefined> {
  if (!isRequestId(requestId)) return undefined
  const story = await readStory(app, requestId)
  return story.entries.length > 0 ? storyDetails(story, app.catalog) : undefined
}

interface Word {
  /** `text` makes the text of the entry. It is made once for all words, because that takes most of the time of a search. */
  fits: (entry: FoundEntry, text: () => string) => boolean
  shown: Mrkdwn
}

/** Reads the words after the command: people (a mention, or `me`), channels, kinds, acts, ids of requests, and any text of an entry. */
export function readFilter(words: string[], me: string, catalog: WordsOfChanges, times: Bounds[] = []) {
  const read = words.map((word) => readWord(word, me, catalog))
  const shown = [...read.map(({ shown }) => shown), ...times.map(({ shown }) => shown)]
  return {
    fits: (entry: FoundEntry) => {
      if (times.some(({ from = 0, before = Number.POSITIVE_INFINITY }) => entry.at < from || entry.at >= before)) return false
      let made: string | undefined
      const text = () => {
        made ??= textOf(entry, catalog)
        return made
      }
      return read.every((word) => word.fits(entry, text))
    },
    shown: joinMrkdwn(shown, ' '),
  }
}

function readWord(word: string, me: string, catalog: WordsOfChanges): Word {
  const [, mark, id = '', name] = /^<(@|#|!subteam\^)([A-Z0-9]+)(?:\|[@#]?([^>]*))?>$/.exec(word) ?? []
  // The caption of a table is plain text, where a mention would be an id.
  const named = (sign: string, mentioned: Mrkdwn) => (name ? mrkdwn`${sign}${name}` : mentioned)
  if (mark === '#') return { fits: ({ channelId }) => channelId === id, shown: named('#', channelMention(id)) }
  if (mark === '@') return { fits: ({ by }) => by === id, shown: named('@', mention(id)) }
  if (mark !== undefined) return { fits: (_, text) => text().includes(id.toLowerCase()), shown: named('@', userGroupMention(id)) }
  const lower = word.toLowerCase()
  if (lower === 'me') return { fits: ({ by }) => by === me, shown: code(lower) }
  if (catalog.kinds().includes(lower)) return { fits: ({ kind }) => kind === lower, shown: code(lower) }
  if (typedActs.has(lower)) return { fits: (entry) => isAct(entry, lower), shown: code(lower) }
  // A number does not match a part of a longer one: `web-2` does not match `web-21`.
  const escaped = lower.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const pattern = new RegExp(`${/^\d/.test(lower) ? '(?<!\\d)' : ''}${escaped}${/\d$/.test(lower) ? '(?!\\d)' : ''}`)
  return { fits: (entry, text) => hasId(entry, word) || pattern.test(text()), shown: code(word) }
}

/** Whether the word is the person's id, or the first 8 or more characters of the request's id or of its hash. */
function hasId({ by, requestId, payload }: FoundEntry, word: string): boolean {
  const startsIt = /^[0-9a-f]{8,}$/i.test(word) && [requestId, payload].some((id) => id?.startsWith(word.toLowerCase()))
  return by === word || startsIt
}

/** Returns the text that a word is searched in: the entry's members, and the words that show it. */
function textOf(entry: FoundEntry, catalog: WordsOfChanges): string {
  const { kind, resource, facts, rule, via, reason, answer, resourceId, causes, text, to, act, attempted } = entry
  const why =
    act === 'refused'
      ? [mrkdwn`tried ${attemptWords(entry, catalog)}`, ...whyRefused(entry)].map(({ text }) => text)
      : causesInWords(entry, catalog)
  const members = [kind, resource, rule, via, reason, resourceId, text, to, act, attempted, JSON.stringify([facts, answer, causes])]
  const [unverified, state] = [whyUnverified(entry), stateOfAct(act)]
  const words = [
    subjectOf(entry, catalog),
    wordsOfAct(entry),
    ...(state === undefined ? [] : [stateWords({ state })]),
    ...emergencyWords(entry).map(({ text }) => text),
    ...(unverified === undefined ? [] : [`unverified (${unverified})`]),
    ...why,
  ]
  return [...members, ...words].join('\n').toLowerCase()
}

/** People are in the audit by their ids, so a name finds only texts that contain it. */
const noMatchTip = mrkdwn`Use fewer or other words. To find a person, mention them with ${code('@')}, or type ${code('me')}.`

/** Says which entries were searched. Empty if the audit has no entries. */
function searchNotes({ searched, unreadable, since, isWhole }: Awaited<ReturnType<typeof findStories>>, older: Mrkdwn): Mrkdwn[] {
  if (searched === 0) return []
  const entries = `${isWhole ? 'all' : 'the newest'} ${searched.toLocaleString('en-US')}`
  const back = since === undefined ? '' : mrkdwn`, back to ${dateTime(since)}`
  const broken = mrkdwn` *${unreadable} of them can't be read.* Lockkeeper's operators can check them with ${code('npm run audit:verify')}.`
  return [mrkdwn`Entries searched: ${entries}${back}.${older}${unreadable > 0 ? broken : ''}`]
}
