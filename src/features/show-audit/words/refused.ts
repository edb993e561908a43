import type { AuditEntry } from '../../../audit/entry.ts'
import { type LabelOf, storedDenialWords } from '../../../requests/messages/refusals/denials.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../../slack/text/text.ts'
import { subjectOf, type WordsOfChanges } from './entry-words.ts'
import { triedBy, triedWithRequest } from './tried.ts'

/** Says who tried what, and why it was refused. `subject` is that of the request on which the steps are shown: they do not repeat it. */
export function refusedSentence(entry: AuditEntry, subject: string, catalog: WordsOfChanges): Mrkdwn {
  const { by, at, count } = entry
  const parts = [...unknownAttempt(entry), ...whyRefused(entry, catalog.labelOf)]
  const who = by === undefined ? 'Someone' : mention(by)
  const again = count === undefined ? '' : ` ${timesMore(count)} in 10 minutes`
  return joinMrkdwn([mrkdwn`${who} tried ${attemptWords(entry, catalog, subject)}${again}, ${dateTime(at)}`, ...parts], ': ')
}

/** Says how often an attempt was repeated, in an entry on repeats: `199 more times`. */
export function timesMore(count: number): string {
  return count === 1 ? 'once more' : `${count.toLocaleString('en-US')} more times`
}

/** Says why something was refused. Returns an empty list if the entry has no cause. */
export function whyRefused({ causes = [] }: AuditEntry, labelOf: LabelOf): Mrkdwn[] {
  const words = causes.map((cause) => storedDenialWords(cause, labelOf))
  return words.length > 0 ? [joinMrkdwn(words, ' ')] : []
}

/** Says what somebody tried: `to evacuate a server`, `to approve this request`. */
export function attemptWords(entry: AuditEntry, catalog: WordsOfChanges, subject?: string): Mrkdwn {
  const { attempted, kind, text } = entry
  if (attempted === 'request') return mrkdwn`to request ${kind === undefined ? 'something' : catalog.labelOf(kind)}`
  if (attempted === 'read') return mrkdwn`to ${useWords(text)}`
  const own = subjectOf(entry, catalog)
  const what = own === undefined ? undefined : own === subject ? mrkdwn`this request` : quotation(own)
  const verb = verbOf(attempted)
  if (verb === undefined) return mrkdwn`an unknown action${what === undefined ? '' : mrkdwn` on ${what}`}`
  return mrkdwn`to ${verb} ${what ?? 'a request'}`
}

/** Says how somebody tried to use Lockkeeper. A command or a button of another version is shown as it is. */
function useWords(text: string | undefined): Mrkdwn {
  if (text === undefined) return mrkdwn`use Lockkeeper`
  return mrkdwn`${triedBy(text) ?? mrkdwn`use Lockkeeper (${code(text)})`}`
}

/** Shows the id of a form, or of a button of another version, as it is. */
function unknownAttempt({ attempted }: AuditEntry): Mrkdwn[] {
  const isKnown = attempted === undefined || attempted === 'request' || attempted === 'read' || verbOf(attempted) !== undefined
  return isKnown ? [] : [mrkdwn`${attempted}`]
}

function verbOf(attempted: string | undefined): string | undefined {
  return attempted === undefined ? undefined : triedWithRequest(attempted)
}
