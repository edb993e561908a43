import type { Found } from '../../audit/find-entries.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

interface Search extends Omit<Found, 'entries'> {
  /** Whether the list is full, so that older entries that fit are left out. */
  full: boolean
}

/** Says which entries were searched. */
export function searchNote({ searched, unreadable, since, all, full }: Search, fitting: number): Mrkdwn {
  const count = searched.toLocaleString('en-US')
  const back = since === undefined ? mrkdwn`` : mrkdwn`, back to ${dateTime(since)}`
  const through = all
    ? mrkdwn`Looked through all ${count} entries${back}.`
    : mrkdwn`Looked through the newest ${count} entries${back}; there are older ones.`
  const cut = full ? mrkdwn` Only the newest ${fitting} that fit are shown: use more words.` : mrkdwn``
  const broken = unreadable > 0 ? mrkdwn` *${unreadable} of them cannot be read.*` : mrkdwn``
  return mrkdwn`${through}${cut}${broken} ${code('npm run audit:verify')} checks that none was changed, removed or put in.`
}

/** Says which words filter the list. The first kind of change is the example. */
export function filterNote([kind]: ChangeKind[]): Mrkdwn {
  const example = kind === undefined ? mrkdwn`` : mrkdwn` (${code(kind)})`
  return mrkdwn`Words filter, and all of them have to fit: a person (a mention, or ${code('me')}), a channel, a kind${example}, an act (${code('approve')}, ${code('refused')}), a request by its first 8 characters, an address, a name, an id. Where they lead to few things, the account's own events of those stand beside.`
}

/** Says whose events of the account are shown. */
export function eventsNote(names: string[], since: number, fullNames: string[]): Mrkdwn {
  const cut = fullNames.length > 0 ? mrkdwn` Of ${codes(fullNames)} only the newest 100.` : mrkdwn``
  return mrkdwn`Beside them: the account's own events of ${codes(names)} since ${dateTime(since)}.${cut}`
}

export function unreadableEvents(names: string[], sentence: string): Mrkdwn {
  return mrkdwn`:warning: The account's own events of ${codes(names)} could not be read, so changes made outside this bot are not shown. ${sentence}`
}

export const tooManyResources: Mrkdwn = mrkdwn`These entries are about more than three things, so the account's own events are not shown: use an address, a name or an id.`

function codes(names: string[]): Mrkdwn {
  return joinMrkdwn(names.map(code), ', ')
}

export function title(entries: number, events: number, filter: Mrkdwn | undefined): Mrkdwn {
  const ofAccount = events > 0 ? ` and ${events === 1 ? '1 event' : `${events} events`} of the account` : ''
  const about = filter === undefined ? mrkdwn`` : mrkdwn` for ${filter}`
  return mrkdwn`Audit: ${entries === 1 ? '1 entry' : `${entries} entries`}${ofAccount}${about}, newest first`
}

export function nothing(filter: Mrkdwn | undefined): Mrkdwn {
  return filter === undefined ? mrkdwn`Nothing has been noted yet.` : mrkdwn`No entry fits ${filter}. Use fewer or other words.`
}
