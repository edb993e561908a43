import type { AuditEntry } from '../../audit/chain.ts'
import type { FoundEntry } from '../../audit/find.ts'
import { type RefusalCode, refusalCodes } from '../../domain/codes.ts'
import { phraseText } from '../../domain/text.ts'
import { pastWords } from '../../messages/request-words.ts'
import { findingWords } from '../../messages/why-not.ts'
import type { Catalog } from '../../record/catalog.ts'
import type { StepName } from '../../record/steps.ts'
import { code, exactTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../slack/text.ts'

interface ActWords {
  /** The word that finds the act: `/infra audit approve`. */
  word: string
  words: string
}

const stepWords: Record<StepName, ActWords> = {
  approve: { word: 'approve', words: 'Approved' },
  'count-approval': { word: 'approve', words: 'Approved' },
  exempt: { word: 'approve', words: 'Needed no approval' },
  'break-glass': { word: 'break-glass', words: 'Emergency approval by the requester alone' },
  reject: { word: 'reject', words: 'Rejected' },
  withdraw: { word: 'withdraw', words: 'Withdrawn' },
  'withdraw-resolved': { word: 'withdraw', words: 'Withdrawn, because the alert resolved' },
  warn: { word: 'warn', words: 'An alert began to fire about the target' },
  'warn-resolved': { word: 'warn', words: 'No alert fires about the target anymore' },
  'note-resolved': { word: 'resolve', words: 'The alert resolved' },
  'note-firing': { word: 'resolve', words: 'The alert fired again' },
  expire: { word: 'expire', words: 'Expired' },
  'expire-approved': { word: 'expire', words: 'Expired' },
  remind: { word: 'remind', words: 'Reminded' },
  prolong: { word: 'wait', words: 'Got another deadline, because of a window or a freeze' },
  escalate: { word: 'escalate', words: 'Escalated' },
  void: { word: 'void', words: 'Canceled, because the account had changed' },
  drop: { word: 'give-up', words: 'Not started, because nothing was sent' },
  begin: { word: 'send', words: 'Sending began' },
  'wait-for-start': { word: 'wait', words: 'Waited for its start' },
  'start-now': { word: 'start-now', words: 'Let start before its time' },
  'wait-for-account': { word: 'wait', words: "Waited, because the account API didn't answer" },
  'wait-for-turn': { word: 'wait', words: "Waited for the account's limit" },
  'wait-for-worker': { word: 'wait', words: 'Waited, because no worker was running' },
  limit: { word: 'wait', words: "Refused because of the account's limit, and sent again later" },
  send: { word: 'send', words: 'Sent to the account' },
  issue: { word: 'send', words: 'Sent to the account' },
  accept: { word: 'accept', words: 'Accepted by the account' },
  slow: { word: 'late', words: 'Takes longer than usual' },
  late: { word: 'late', words: 'Takes longer than expected' },
  finish: { word: 'end', words: 'Done' },
  fail: { word: 'end', words: 'Failed' },
  'fail-begun': { word: 'end', words: 'Failed' },
  supersede: { word: 'end', words: 'Superseded by another change' },
  'not-start': { word: 'end', words: 'Not started' },
  'stop-tracking': { word: 'stop-tracking', words: 'Tracking stopped' },
  distrust: { word: 'distrust', words: "Its record can't be trusted" },
  'track-again': { word: 'track-again', words: 'Tracked again' },
}

export const acts: Record<string, ActWords> = {
  request: { word: 'request', words: 'Requested' },
  discard: { word: 'discard', words: 'Not posted' },
  answer: { word: 'answer', words: 'The account answered' },
  refused: { word: 'refused', words: 'Refused' },
  freeze: { word: 'freeze', words: 'Froze all changes' },
  unfreeze: { word: 'freeze', words: 'Lifted the freeze' },
  'call-for-key-end': { word: 'key-end', words: 'Notified the owner that a key ends soon' },
  'end-key': { word: 'key-end', words: 'Deleted a key at its end' },
  'passkey-pending': { word: 'passkey', words: 'Made a passkey that waits for an operator to trust it' },
  'passkey-add': { word: 'passkey', words: 'Added a passkey that another approver confirmed' },
  'passkey-trust': { word: 'passkey', words: 'Trusted a passkey on the server' },
  'passkey-remove': { word: 'passkey', words: 'Removed a passkey' },
  trim: { word: 'trim', words: 'Removed old entries of the audit' },
  unreadable: { word: 'unreadable', words: 'Unreadable entry' },
  ...stepWords,
}

export function wordsOfAct({ act, missing, needed, through, text, from }: AuditEntry): string {
  if (act === 'freeze' && from !== undefined) return 'Planned a freeze of all changes'
  if (act === 'unfreeze' && from !== undefined) return 'Canceled the planned freeze'
  if (/key-end$|^end-key$/.test(act) && text !== undefined) return `${knownWords(act)?.words ?? act}: ${text}`
  if (act.startsWith('passkey-') && text !== undefined) return `${knownWords(act)?.words ?? act}: ${text}`
  if (act === 'trim' && through !== undefined) return `Removed old entries of the audit, up to number ${through.toLocaleString('en-US')}`
  if (act === 'count-approval' && missing !== undefined && needed !== undefined) return `Approved, with ${missing} more of ${needed} needed`
  return knownWords(act)?.words ?? act
}

function knownWords(act: string): ActWords | undefined {
  return Object.hasOwn(acts, act) ? acts[act] : undefined
}

export const typedActs = new Set(Object.values(acts).map(({ word }) => word))

export function isAct({ act, attempted }: AuditEntry, typed: string): boolean {
  return act === typed || knownWords(act)?.word === typed || nameOfButton(attempted) === typed
}

/** `request-hand-over` is a button. A right that a request needs has its own name: `decide`. */
function nameOfButton(attempted: string | undefined): string | undefined {
  return attempted?.replace(/^request-/, '')
}

export type WordsOfChanges = Pick<Catalog, 'titleOf' | 'changeIfKnown' | 'kinds' | 'labelOf'>

/** Returns the title of the entry's request: `Move 203.0.113.10: web-1 → web-2`. Returns undefined if the entry does not say it. */
export function subjectOf(entry: AuditEntry, catalog: WordsOfChanges): string | undefined {
  const { kind, item, resource, facts } = entry
  if (kind === undefined || resource === undefined) return undefined
  const own = item === undefined ? undefined : knownFacts(entry, catalog)
  return phraseText(own ? own.change.describe(own.facts).title : catalog.titleOf({ kind, resource, facts }))
}

function knownFacts({ kind = '', item, facts }: AuditEntry, catalog: WordsOfChanges) {
  const ofKind = catalog.changeIfKnown(kind)
  const change = item === undefined ? ofKind : ofKind?.items?.change
  const parsed = change?.facts.safeParse(facts)
  return change && parsed?.success ? { change, facts: parsed.data } : undefined
}

export function causesInWords({ kind, causes = [] }: AuditEntry, catalog: WordsOfChanges): string[] {
  return causes.map((cause) => findingWords(catalog.changeIfKnown(kind ?? ''), cause).why)
}

export function emergencyWords({ act, passed }: AuditEntry): Mrkdwn[] {
  if (act !== 'break-glass') return passed === undefined ? [] : [mrkdwn`emergency approval${pastWords(passed)}`]
  return passed === undefined || passed.length === 0 ? [] : [mrkdwn`approved alone${pastWords(passed)}`]
}

/** Says who tried what, and why it was refused. `subject` is that of the request on which the steps are shown: they do not repeat it. */
export function refusedSentence(entry: AuditEntry, subject: string, catalog: WordsOfChanges): Mrkdwn {
  const { by, at } = entry
  const who = by === undefined ? 'Someone' : mention(by)
  return joinMrkdwn([mrkdwn`${who} tried ${attemptWords(entry, catalog, subject)}, ${exactTime(at)}`, ...whyRefused(entry)], ': ')
}

export function whyRefused({ causes = [] }: AuditEntry): Mrkdwn[] {
  const words = causes.map((cause) =>
    Object.hasOwn(refusalCodes, cause.code) ? mrkdwn`${refusalCodes[cause.code as RefusalCode]}` : code(cause.code),
  )
  return words.length > 0 ? [joinMrkdwn(words, '; ')] : []
}

/** What people try on a request, by the names of its buttons and of the rights that they need. */
const attempts: Record<string, string> = {
  decide: 'decide on …',
  approve: 'approve …',
  emergency: 'approve … in an emergency',
  'break-glass': 'approve … alone in an emergency',
  reject: 'reject …',
  withdraw: 'withdraw …',
  'start-now': 'start … now',
  issue: 'create the key of …',
  'hand-over': 'create the key of …',
  track: 'stop or resume tracking …',
  'stop-tracking': 'stop tracking …',
  'track-again': 'track … again',
  again: 'repeat …',
  retry: 'retry the rest of …',
  reverse: 'undo …',
  details: 'see the details of …',
}

/** Says what somebody tried: `to use ip move`, `to approve this request`. */
export function attemptWords(entry: AuditEntry, catalog: WordsOfChanges, subject?: string): Mrkdwn {
  const { attempted, kind, text } = entry
  if (attempted === 'request') return mrkdwn`to request ${kind === undefined ? 'something' : catalog.labelOf(kind)}`
  if (attempted === 'read') return triedToUse(text, catalog)
  if (attempted === 'freeze' || attempted === 'unfreeze') return mrkdwn`to ${attempted} changes`
  const own = subjectOf(entry, catalog)
  const what = own === undefined ? 'a request' : own === subject ? 'this request' : quotation(own)
  const name = nameOfButton(attempted) ?? 'something'
  const [before, after = ''] = Object.hasOwn(attempts, name) ? (attempts[name] ?? '').split('…') : [mrkdwn`use ${code(name)} on `]
  return mrkdwn`to ${before ?? ''}${what}${after}`
}

const usedThings: Record<string, string> = {
  click: 'the button ',
  submission: 'the form ',
  options: 'the picker ',
  shortcut: 'the shortcut ',
}

/** `text`: the kind of what was used, and its name: `command ip move`, `click request-approve`. Undefined for Lockkeeper as a whole. */
function triedToUse(text: string | undefined, catalog: WordsOfChanges): Mrkdwn {
  const [, kind = '', name = ''] = /^(\w+) (.+)$/.exec(text ?? '') ?? []
  const isKnown = name === 'unfreeze' || Object.hasOwn(attempts, nameOfButton(name) ?? '')
  if (kind === 'click' && isKnown) return attemptWords({ attempted: name } as AuditEntry, catalog)
  return mrkdwn`to use ${usedThings[kind] ?? ''}${text === undefined ? 'Lockkeeper' : code(name || text)}`
}

const reasons = {
  unsigned: "it isn't signed",
  forged: "its signature doesn't match",
  'unknown-key': "it was signed with a key that Lockkeeper doesn't have",
  copied: 'it is a copy of an older entry',
} satisfies Record<Exclude<FoundEntry['verdict'], 'genuine'>, string>

export function whyUnverified({ verdict }: FoundEntry): string | undefined {
  return verdict === 'genuine' ? undefined : reasons[verdict]
}

/** Says how many of the entries cannot be verified, and why: `1 of 6 entries: it isn't signed`. Undefined if all are genuine. */
export function unverifiedAmong(entries: FoundEntry[]): string | undefined {
  const why = entries.map(whyUnverified).filter((reason) => reason !== undefined)
  return why.length === 0 ? undefined : `${why.length} of ${entries.length} entries: ${[...new Set(why)].join('; ')}`
}
