import type { KnownBlock } from '@slack/web-api'
import { labelOf } from '../domain/account.ts'
import { type Difference, serverFact, type Watch, type WatchedList, type WatchMessage } from '../domain/watch.ts'
import { button, message, sectionWithButton, wholeSection } from '../slack/blocks.ts'
import { itemButton } from '../slack/table.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, nameWords, ownWords } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

export const endWatchButton = 'end-watch'

const kinds: Record<WatchedList, { one: string; command: string }> = {
  plans: { one: 'Plan', command: 'watch plan' },
  elasticIps: { one: 'Elastic IP', command: 'watch ip' },
  servers: { one: 'Server', command: 'watch server' },
  apiKeys: { one: 'API key', command: 'keys' },
}

/** `Elastic IP 203.0.113.10`, `Plan vm.small in ASH` */
export function watchedWords({ list, name, site }: Pick<Watch, 'list' | 'name' | 'site'>): Mrkdwn {
  return mrkdwn`${kinds[list].one} ${nameWords(list === 'apiKeys' ? labelOf(name) : name)}${site === undefined ? '' : ` in ${site}`}`
}

export function differenceWords(difference: Difference): Mrkdwn {
  const ends = difference.what === 'gone' ? ' This watch has ended.' : ''
  return mrkdwn`:eyes: ${whatWords(difference)}${ends}`
}

function whatWords({ by, isGap, since, at, ...difference }: Difference): Mrkdwn {
  const author = by.length > 0 ? mrkdwn`By ${joinMrkdwn(by.map(code), ', ')}.` : mrkdwn`Author unknown.`
  const who = difference.list === 'plans' ? mrkdwn`` : mrkdwn` ${author}`
  const gap = isGap
    ? mrkdwn` Lockkeeper didn't check between ${dateTime(since)} and ${dateTime(at)}, so it happened in that time.`
    : mrkdwn``
  return mrkdwn`${happenedWords(difference)}${who}${gap}`
}

function happenedWords({ list, name, what, facts }: Pick<Difference, 'list' | 'name' | 'what' | 'facts'>): Mrkdwn {
  const thing = watchedWords({ list, name })
  if (list === 'plans') return mrkdwn`${thing} is no longer offered.`
  if (what === 'gone') return mrkdwn`${thing} was removed outside Lockkeeper.`
  if (what === 'created') return mrkdwn`${thing} was created outside Lockkeeper.`
  const [only, ...others] = facts
  if (only?.fact === serverFact && others.length === 0 && only.is !== '')
    return mrkdwn`${thing} moved from ${nameWords(only.from)} to ${nameWords(only.to)} outside Lockkeeper.`
  const each = facts.map(({ fact, from, to }) => mrkdwn`${fact} ${nameWords(from)} → ${nameWords(to)}`)
  return mrkdwn`${thing} changed outside Lockkeeper: ${joinMrkdwn(each, ', ')}.`
}

export function inStockWords(watch: Watch, sites: string[]): Mrkdwn {
  return mrkdwn`:white_check_mark: ${watchedWords({ ...watch, site: undefined })} is in stock in ${sites.join(', ')}. This watch has ended.`
}

export function endedWords({ origin, ...watch }: Watch): Mrkdwn {
  const again = [origin.command, kinds[watch.list].command, watch.name, ...(watch.site ? ['in', watch.site] : [])].join(' ')
  return mrkdwn`:hourglass: The watch on ${watchedWords(watch)} has ended after 30 days. To watch it again: ${code(again)}`
}

const mostListed = 20

/** For the operators: what changed outside Lockkeeper since they were told last. */
export function changesWords(changes: Difference[]): Mrkdwn {
  const lines = changes.slice(0, mostListed).map((each) => mrkdwn`•  ${whatWords(each)}`)
  const more = changes.length - lines.length
  const rest = more > 0 ? [mrkdwn`•  ${more} more. The account's own events may show them.`] : []
  return joinMrkdwn([mrkdwn`:eyes: *Changed outside Lockkeeper*`, ...lines, ...rest], '\n')
}

export function watchMessage({ words, items }: WatchMessage, userIds: string[]): Message {
  const whom = userIds.length > 0 ? mrkdwn` ${joinMrkdwn(userIds.map(mention), ' ')}` : mrkdwn``
  const listed = items.flatMap(({ words: each, button: action }) => {
    const [opens] = action ? itemButton({ ...action, style: 'danger' }, { id: action.id, text: action.text }) : []
    return opens ? [sectionWithButton(ownWords(each), opens)] : wholeSection(ownWords(each))
  })
  return message([...wholeSection(mrkdwn`${ownWords(words)}${whom}`), ...listed])
}

/** Each with its button, one block for each. */
export function watchBlocks(watches: Watch[]): KnownBlock[] {
  return watches.map((watch) =>
    sectionWithButton(
      mrkdwn`${watchedWords(watch)}: posts in <#${watch.origin.channelId}> until ${dateTime(watch.until)}`,
      button({ text: 'End', actionId: endWatchButton, value: watch.key }),
    ),
  )
}
