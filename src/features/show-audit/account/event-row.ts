import type { AccountEvent } from '../../../domain/account/account-event.ts'
import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { AuditRow } from '../audit-row.ts'

/** Shows an event of the account: `update.elastic_ip` of 203.0.113.10, by ops (ops@nimbus.example). */
export function eventRow({ action, target, author, createdAt }: AccountEvent): AuditRow {
  const at = Date.parse(createdAt ?? '')
  const name = target?.name ?? target?.id
  const what = mrkdwn`${action === undefined ? mrkdwn`unknown action` : code(action)}${name === undefined ? '' : mrkdwn` of ${code(name)}`}`
  return {
    at: Number.isNaN(at) ? undefined : at,
    what: mrkdwn`Event of the account: ${what}`,
    outcome: undefined,
    by: authorWords(author),
    notes: undefined,
    mark: ':white_small_square:',
  }
}

function authorWords(author: AccountEvent['author']): Mrkdwn {
  const name = author?.name ?? author?.id
  if (author?.email === undefined) return name === undefined ? mrkdwn`someone unknown` : mrkdwn`${name}`
  return name === undefined ? mrkdwn`${author.email}` : mrkdwn`${name} (${author.email})`
}
