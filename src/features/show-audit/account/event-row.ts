import { code, dateTime, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { AuditRow } from '../audit-row.ts'
import type { MatchedEvent } from './match-events.ts'

/** Shows an event of the account that confirms none of the rows. */
export function eventRow(matched: MatchedEvent): AuditRow {
  const { event, at } = matched
  const row = { at, what: mrkdwn`Event of the account: ${whatHappened(matched)}`, by: authorWords(event.author), notes: undefined }
  switch (matched.is) {
    case 'confirms': {
      const { requestId } = matched.entry
      const notes = requestId === undefined ? undefined : mrkdwn`for request ${requestId.slice(0, 8)}`
      return { ...row, outcome: 'Made by Lockkeeper', notes, mark: ':ballot_box_with_check:' }
    }
    case 'outside': {
      const notes = matched.nearOwnWrite ? mrkdwn`at the time of a change by Lockkeeper, which another event confirms` : undefined
      return { ...row, outcome: 'Made outside Lockkeeper', notes, mark: ':warning:' }
    }
    case 'harmless':
      return { ...row, outcome: 'Changed nothing', mark: ':white_small_square:' }
    case 'undecided': {
      const why = at === undefined ? 'the account shows no time' : 'it is older than the entries that were searched'
      return { ...row, outcome: 'Origin unknown', notes: mrkdwn`${why}`, mark: ':grey_question:' }
    }
  }
}

/** Describes an event: `update.elastic_ip` of 203.0.113.10 by ops (ops@nimbus.example), 12:03. */
export function eventWords(matched: MatchedEvent): Mrkdwn {
  return mrkdwn`${whatHappened(matched)} by ${authorWords(matched.event.author)}, ${dateTime(matched.at ?? Number.NaN)}`
}

function whatHappened({ event: { action, target } }: MatchedEvent): Mrkdwn {
  const name = target?.name ?? target?.id
  return mrkdwn`${action === undefined ? mrkdwn`unknown action` : code(action)}${name === undefined ? '' : mrkdwn` of ${code(name)}`}`
}

function authorWords(author: MatchedEvent['event']['author']): Mrkdwn {
  const name = author?.name ?? author?.id
  if (author?.email === undefined) return name === undefined ? mrkdwn`someone unknown` : mrkdwn`${name}`
  return name === undefined ? mrkdwn`${author.email}` : mrkdwn`${name} (${author.email})`
}
