import type { FoundEntry } from '../../audit/find-entries.ts'
import type { Details } from '../../slack/lists/details.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mrkdwn, quotation } from '../../slack/text/text.ts'
import { stepOf } from './steps.ts'
import { type Story, trustedEntries } from './story.ts'
import { subjectsOf, type WordsOfChanges } from './words/entry-words.ts'

/** The most refused attempts, and the most unverified entries, among the steps. Otherwise many of them could push out the real steps. */
const mostOfKind = 10

/** Shows the steps of a request in their order, each with the account's answer. */
export function requestDetails(story: Story, catalog: WordsOfChanges): Details {
  const [subject = 'A request without a description'] = subjectsOf(trustedEntries(story), catalog)
  const refused = story.entries.filter(({ act, verdict }) => act === 'refused' && verdict === 'genuine').slice(mostOfKind)
  const unverified = story.entries.filter(({ verdict }) => verdict !== 'genuine').slice(mostOfKind)
  const early = earlyStepsOfItems(story.entries)
  const hidden = new Set([...refused, ...unverified, ...early])
  const shown = story.entries.filter((entry) => !hidden.has(entry))
  const facts = shown.map((entry) => stepOf(entry, { subject, catalog }))
  const more = [
    ...notShown(refused, 'refused attempts'),
    ...notShown(unverified, 'unverified entries'),
    ...notShown(early, 'earlier steps of the single changes'),
  ]
  return { title: quotation(subject), facts, notes: [whereabouts(story), ...more], name: subject }
}

/** Finds the steps of items that a later step of the same item follows. Fifty items with three steps each would not fit into one message. */
function earlyStepsOfItems(entries: FoundEntry[]): FoundEntry[] {
  const ofItems = entries.filter(({ item, verdict }) => item !== undefined && verdict === 'genuine')
  const last = new Map(ofItems.map((entry) => [entry.item, entry]))
  return ofItems.filter((entry) => last.get(entry.item) !== entry)
}

function notShown({ length }: FoundEntry[], what: string): Mrkdwn[] {
  return length > 0 ? [mrkdwn`${length} more ${what} aren't shown.`] : []
}

function whereabouts(story: Story): Mrkdwn {
  const channelId = trustedEntries(story).find((entry) => entry.channelId)?.channelId
  const place = channelId === undefined ? [] : [mrkdwn`in ${channelMention(channelId)}`]
  return joinMrkdwn([mrkdwn`Request ${code(story.requestId ?? 'unknown')}`, ...place], ' ')
}
