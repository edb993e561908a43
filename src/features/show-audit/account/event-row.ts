import { code, dateTime, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { MatchedEvent } from './match-events.ts'

/** Shows an event of the account on a separate row. */
export function eventRow(matched: MatchedEvent): Mrkdwn {
  const words = eventWords(matched)
  switch (matched.is) {
    case 'confirms': {
      const { requestId } = matched.entry
      return mrkdwn`:ballot_box_with_check: account: ${words}  ·  made by this bot${requestId === undefined ? '' : `, for ${requestId.slice(0, 8)}`}`
    }
    case 'outside': {
      const nearOwnWrite = matched.nearOwnWrite ? '  ·  at the time of a change of this bot, which another event confirms' : ''
      return mrkdwn`:warning: account: *made outside this bot*: ${words}${nearOwnWrite}`
    }
    case 'harmless':
      return mrkdwn`:white_small_square: account: ${words}`
    case 'undecided':
      return mrkdwn`:grey_question: account: ${words}  ·  whether this bot made it is not known: ${matched.at === undefined ? 'the account does not tell when' : 'it is older than the entries that were looked through'}`
  }
}

/** Describes an event: `update.elastic_ip` of 203.0.113.10 by ops (ops@nimbus.example), 12:03. */
export function eventWords({ event: { action, target, author }, at }: MatchedEvent): Mrkdwn {
  const what = action === undefined ? mrkdwn`something (the account does not tell what)` : code(action)
  const name = target?.name ?? target?.id
  return mrkdwn`${what}${name === undefined ? '' : mrkdwn` of ${code(name)}`} by ${authorWords(author)}, ${dateTime(at ?? Number.NaN)}`
}

function authorWords(author: MatchedEvent['event']['author']): Mrkdwn {
  const name = author?.name ?? author?.id
  if (author?.email === undefined) return name === undefined ? mrkdwn`somebody (the account does not tell who)` : mrkdwn`${name}`
  return name === undefined ? mrkdwn`${author.email}` : mrkdwn`${name} (${author.email})`
}
