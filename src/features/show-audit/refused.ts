import type { AuditEntry } from '../../audit/entry.ts'
import { type LabelOf, storedDenialWords } from '../../requests/messages/refusals/denials.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../slack/text/text.ts'
import { subjectOf, type WordsOfChanges } from './entry-words.ts'

/** The words for what a person attempted with a request, by the act or the id of the button. */
const attempts: Record<string, string> = {
  decide: 'tried to approve or reject',
  'break-glass': 'tried to approve their own request',
  own: 'tried to act as the requester of',
  withdraw: 'tried to withdraw',
  issue: 'tried to get the token of',
  track: 'tried to stop or resume the tracking of',
  'request-approve': 'pressed Approve on',
  'request-reject': 'pressed Reject on',
  'request-withdraw': 'pressed Withdraw on',
  'request-hand-over': 'pressed the button that creates the token of',
  'request-again': 'pressed Request again on',
  'request-reverse': 'pressed the button that undoes',
  'request-stop-tracking': 'pressed Stop tracking on',
  'request-track-again': 'pressed Track again on',
}

/** Says who tried what, and why it was refused. `subject` is that of the request on which the steps are shown: they do not repeat it. */
export function refusedSentence(entry: AuditEntry, subject: string, catalog: WordsOfChanges): Mrkdwn {
  const { by, at } = entry
  const parts = [...unknownAttempt(entry), ...whyRefused(entry, catalog.labelOf)]
  const who = by === undefined ? 'Someone' : mention(by)
  return joinMrkdwn([mrkdwn`${who} ${attemptWords(entry, catalog, subject)}, ${dateTime(at)}`, ...parts], ': ')
}

/** Says why something was refused. Returns an empty list if the entry has no cause. */
export function whyRefused({ causes = [] }: AuditEntry, labelOf: LabelOf): Mrkdwn[] {
  const words = causes.map((cause) => storedDenialWords(cause, labelOf))
  return words.length > 0 ? [joinMrkdwn(words, ' ')] : []
}

/** Says what somebody tried: ``tried to use Lockkeeper (`command ip move`)``. */
export function attemptWords(entry: AuditEntry, catalog: WordsOfChanges, subject?: string): Mrkdwn {
  const { attempted, kind, text } = entry
  if (attempted === 'request') return mrkdwn`tried to request ${kind === undefined ? 'something' : catalog.labelOf(kind)}`
  if (attempted === 'read') return mrkdwn`tried to use Lockkeeper${text === undefined ? '' : mrkdwn` (${code(text)})`}`
  const own = subjectOf(entry, catalog)
  const what = own === undefined ? undefined : own === subject ? mrkdwn`this request` : quotation(own)
  const words = wordsOfAttempt(asRequester(entry) ?? attempted)
  if (words === undefined) return mrkdwn`tried an unknown action${what === undefined ? '' : mrkdwn` on ${what}`}`
  return mrkdwn`${words} ${what ?? 'a request'}`
}

/** All steps that only the requester may take have one name in the entry. The cause says which one it was. */
function asRequester({ attempted, causes = [] }: AuditEntry): string | undefined {
  if (attempted !== 'own') return undefined
  if (causes.some(({ code }) => code === 'only-requester-may-withdraw')) return 'withdraw'
  return causes.some(({ code }) => code === 'only-requester-may-issue') ? 'issue' : undefined
}

/** Shows the id of a form, or of a button of another version, as it is. */
function unknownAttempt({ attempted }: AuditEntry): Mrkdwn[] {
  const isKnown = attempted === undefined || attempted === 'request' || attempted === 'read' || wordsOfAttempt(attempted) !== undefined
  return isKnown ? [] : [mrkdwn`${attempted}`]
}

function wordsOfAttempt(attempted: string | undefined): string | undefined {
  return attempted !== undefined && Object.hasOwn(attempts, attempted) ? attempts[attempted] : undefined
}
