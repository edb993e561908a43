import type { FoundEntry } from '../../audit/audit.ts'
import type { AuditEntry } from '../../audit/chain.ts'
import type { Change } from '../../domain/change.ts'
import { phraseText } from '../../domain/text.ts'
import { explain, type LabelOf, storedDenialWords } from '../../messages/refusals.ts'
import { breakGlassCallbackId, type CardButtonId, cardButtons, refreshHome } from '../../messages/words.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { StepName } from '../../requests/steps.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../slack/text.ts'

interface ActWords {
  /** The word that finds the act: `/infra audit approve`. */
  word: string
  mark: string
  words: string
}

/** The words for every step. */
const stepWords: Record<StepName, ActWords> = {
  approve: { word: 'approve', mark: ':white_check_mark:', words: 'Approved' },
  'count-approval': { word: 'approve', mark: ':white_check_mark:', words: 'Approved' },
  exempt: { word: 'approve', mark: ':white_check_mark:', words: 'Needed no approval' },
  'break-glass': { word: 'break-glass', mark: ':rotating_light:', words: 'Approved by the requester alone (break-glass)' },
  reject: { word: 'reject', mark: ':no_entry_sign:', words: 'Rejected' },
  withdraw: { word: 'withdraw', mark: ':leftwards_arrow_with_hook:', words: 'Withdrawn' },
  'withdraw-resolved': { word: 'withdraw', mark: ':leftwards_arrow_with_hook:', words: 'Withdrawn, because the alert resolved' },
  'note-resolved': { word: 'resolve', mark: ':information_source:', words: 'The alert resolved' },
  expire: { word: 'expire', mark: ':hourglass:', words: 'Expired' },
  'expire-approved': { word: 'expire', mark: ':hourglass:', words: 'Expired' },
  'remind-half': { word: 'remind', mark: ':bell:', words: 'Reminded the approvers' },
  'remind-last': { word: 'remind', mark: ':bell:', words: 'Reminded the approvers' },
  'remind-handover-half': { word: 'remind', mark: ':bell:', words: 'Reminded the requester' },
  'remind-handover-last': { word: 'remind', mark: ':bell:', words: 'Reminded the requester' },
  void: { word: 'void', mark: ':warning:', words: 'Canceled, because the account had changed' },
  drop: { word: 'give-up', mark: ':white_circle:', words: 'Not started, because nothing was sent' },
  begin: { word: 'send', mark: ':arrow_forward:', words: 'Sending began' },
  'wait-for-account': { word: 'wait', mark: ':hourglass:', words: "Waited, because the account API didn't answer" },
  'wait-for-turn': { word: 'wait', mark: ':hourglass:', words: "Waited for the account's limit" },
  'wait-for-worker': { word: 'wait', mark: ':hourglass:', words: 'Waited, because no worker was running' },
  limit: { word: 'wait', mark: ':hourglass:', words: "Refused because of the account's limit, and sent again later" },
  send: { word: 'send', mark: ':arrow_forward:', words: 'Sent to the account' },
  issue: { word: 'send', mark: ':arrow_forward:', words: 'Sent to the account' },
  accept: { word: 'accept', mark: ':arrows_counterclockwise:', words: 'Accepted by the account' },
  late: { word: 'late', mark: ':snail:', words: 'Takes longer than expected' },
  finish: { word: 'end', mark: ':large_green_circle:', words: 'Done' },
  fail: { word: 'end', mark: ':red_circle:', words: 'Failed' },
  'fail-begun': { word: 'end', mark: ':red_circle:', words: 'Failed' },
  supersede: { word: 'end', mark: ':white_circle:', words: 'Superseded by another change' },
  'not-start': { word: 'end', mark: ':white_circle:', words: 'Not started' },
  'stop-tracking': { word: 'stop-tracking', mark: ':see_no_evil:', words: 'Tracking stopped' },
  distrust: { word: 'distrust', mark: ':rotating_light:', words: "Its record can't be trusted" },
  'track-again': { word: 'track-again', mark: ':eyes:', words: 'Tracked again' },
}

/** The words for every act that the audit notes: the steps, and what is no step. */
export const acts: Record<string, ActWords> = {
  request: { word: 'request', mark: ':speech_balloon:', words: 'Requested' },
  discard: { word: 'discard', mark: ':wastebasket:', words: 'Not posted' },
  answer: { word: 'answer', mark: ':arrow_backward:', words: 'The account answered' },
  refused: { word: 'refused', mark: ':no_entry:', words: 'Refused' },
  trim: { word: 'trim', mark: ':wastebasket:', words: 'Removed old entries of the audit' },
  unreadable: { word: 'unreadable', mark: ':grey_question:', words: 'Unreadable entry' },
  ...stepWords,
}

const unknownMark = ':small_blue_diamond:'

/** Returns the words for the act of an entry: `Approved`. An unknown act is shown as it is. */
export function wordsOfAct({ act, missing, needed, through }: AuditEntry): string {
  if (act === 'trim' && through !== undefined) return `Removed old entries of the audit, up to number ${through.toLocaleString('en-US')}`
  if (act === 'count-approval' && missing !== undefined && needed !== undefined) return `Approved, with ${missing} more of ${needed} needed`
  return knownWords(act)?.words ?? act
}

function knownWords(act: string): ActWords | undefined {
  return Object.hasOwn(acts, act) ? acts[act] : undefined
}

/** All words that find acts. */
export const typedActs = new Set(Object.values(acts).map(({ word }) => word))

/** Returns the word that finds an act. Returns undefined for an unknown act. */
export function typedWordOf(act: string): string | undefined {
  return knownWords(act)?.word
}

export function markOf({ act }: AuditEntry): string {
  return knownWords(act)?.mark ?? unknownMark
}

/** The part of the catalog that puts changes into words. */
export type WordsOfChanges = Pick<Catalog, 'titleOf' | 'changeIfKnown' | 'kinds' | 'labelOf'>

/** Returns the title of the entry's request: `Move 203.0.113.10: web-1 → web-2`. Returns undefined if the entry has no request. */
export function subjectOf(entry: AuditEntry, catalog: WordsOfChanges): string | undefined {
  const { kind, item, resource, facts } = entry
  if (kind === undefined || resource === undefined) return undefined
  const parsed = item === undefined ? undefined : changeOf(entry, catalog)?.facts.safeParse(facts)
  const own = parsed?.success ? changeOf(entry, catalog)?.describe(parsed.data).title : undefined
  return phraseText(own ?? catalog.titleOf({ kind, resource, facts }))
}

/** Returns what people call the resource: `203.0.113.10`. Undefined if the entry does not say it, or may be forged. */
export function resourceNameOf(entry: FoundEntry, catalog: WordsOfChanges): string | undefined {
  const change = changeOf(entry, catalog)
  const parsed = change?.facts.safeParse(entry.facts)
  return change && parsed?.success && entry.verdict === 'genuine' ? change.subject(parsed.data) : undefined
}

/** Returns the titles of the entries that have one. */
export function subjectsOf(entries: AuditEntry[], catalog: WordsOfChanges): string[] {
  return entries.map((entry) => subjectOf(entry, catalog)).filter((subject) => subject !== undefined)
}

/** Returns a sentence for each cause of an end. */
export function causesInWords(entry: AuditEntry, catalog: WordsOfChanges): string[] {
  const change = catalog.changeIfKnown(entry.kind ?? '')
  return (entry.causes ?? []).map((cause) => explain(change, cause).why)
}

/** Returns the change that an entry is about: that of one item, for an entry about an item. */
function changeOf({ kind, item }: AuditEntry, catalog: WordsOfChanges): Change | undefined {
  const change = catalog.changeIfKnown(kind ?? '')
  return item === undefined ? change : change?.items?.change
}

/**
 * What a person tries with each button of a request, and with each right that a request needs. The request follows: `approve`, `a request`.
 */
const triedOnRequest: Record<CardButtonId, string> & Record<string, string> = {
  [cardButtons.approve]: 'approve',
  [cardButtons.reject]: 'reject',
  [cardButtons.withdraw]: 'withdraw',
  [cardButtons.handOver]: 'get the token of',
  [cardButtons.again]: 'repeat',
  [cardButtons.reverse]: 'undo',
  [cardButtons.retry]: 'retry the rest of',
  [cardButtons.stopTracking]: 'stop the tracking of',
  [cardButtons.trackAgain]: 'restart the tracking of',
  [cardButtons.details]: 'see the details of',
  [breakGlassCallbackId]: 'give an emergency approval of',
  decide: 'approve or reject',
  'break-glass': 'give an emergency approval of',
  withdraw: 'withdraw',
  issue: 'get the token of',
  track: 'stop or restart the tracking of',
}

/**
 * What a person tries with each command, button, form, picker and shortcut, by the name in the entry. A line stays when its command is deleted, because old entries still name it.
 */
const tried: Record<string, string> = {
  'command help': 'read the help',
  'command unknown': 'run an unknown command',
  'command ip move': 'move an Elastic IP',
  'command evacuate': 'evacuate a server',
  'command vm rename': 'rename a virtual machine',
  'command keys create': 'create an API key',
  'command keys rotate': 'rotate an API key',
  'command keys revoke': 'revoke an API key',
  'command ip list': 'list Elastic IPs',
  'command moves': 'list moves',
  'command servers': 'list servers',
  'command vms': 'list virtual machines',
  'command plans': 'list plans',
  'command baselines': 'list baselines',
  'command keys': 'list API keys',
  'command pending': 'list requests that need approval',
  'command audit': 'read the audit',
  'command whoami': 'see their rights',
  'command doctor': 'check the setup',
  'shortcut move-elastic-ip': 'move an Elastic IP',
  'shortcut look-up': 'look up a message',
  home: 'open the Home tab',
  [`click ${refreshHome}`]: 'refresh the Home tab',
  'click page-previous': 'turn the page of a list',
  'click page-next': 'turn the page of a list',
  'click page-refresh': 'refresh a list',
  'click open-move-elastic-ip': 'move an Elastic IP',
  'click open-evacuate-server': 'evacuate a server',
  'click open-rename-virtual-machine': 'rename a virtual machine',
  'click open-create-api-key': 'create an API key',
  'click details:elastic-ip': 'see the details of an Elastic IP',
  'click details:server': 'see the details of a server',
  'click details:virtual-machine': 'see the details of a virtual machine',
  'click details:plan': 'see the details of a plan',
  'click details:api-key': 'see the details of an API key',
  'click details:audited-request': 'read the audit of a request',
  'click item:elastic-ip:ip.move': 'move an Elastic IP',
  'click item:server:ip.evacuate': 'evacuate a server',
  'click item:virtual-machine:vm.rename': 'rename a virtual machine',
  'click item:api-key:key.rotate': 'rotate an API key',
  'click item:api-key:key.revoke': 'revoke an API key',
  'click elastic-ip': 'move an Elastic IP',
  'click server': 'move an Elastic IP',
  'click move-this-elastic-ip': 'move an Elastic IP',
  'click evacuate-from': 'evacuate a server',
  'click evacuate-to': 'evacuate a server',
  'click evacuate-this-server': 'evacuate a server',
  'click rename-this-one': 'rename a virtual machine',
  'click move-to-this-one': 'move an Elastic IP',
  'click evacuate-to-this-one': 'evacuate a server',
  'click doctor-button': 'check the setup',
  'click doctor-picker': 'check the setup',
  'click doctor-table-seen': 'check the setup',
  'click doctor-table-unseen': 'check the setup',
  'submission choose-channel': 'choose the channel of a request',
  'submission move-elastic-ip': 'move an Elastic IP',
  'submission evacuate-server': 'evacuate a server',
  'submission rename-virtual-machine': 'rename a virtual machine',
  'submission create-api-key': 'create an API key',
  'submission rotate-api-key': 'rotate an API key',
  'submission revoke-api-key': 'revoke an API key',
  'options elastic-ip': 'search for an Elastic IP',
  'options server': 'search for a server',
  'options evacuate-from': 'search for a server',
  'options evacuate-to': 'search for a server',
  'options virtual-machine': 'search for a virtual machine',
  'options api-key': 'search for an API key',
  'options doctor-picker': 'check the setup',
}

/**
 * The kinds and actions that find an attempt, by what was tried. So `/infra audit ip.move` also finds a move that was refused at once. A
 * line stays when its kind is deleted, because old entries still name it.
 */
const foundBy: Record<string, string[]> = {
  'move an Elastic IP': ['kind ip.move'],
  'evacuate a server': ['kind ip.evacuate'],
  'rename a virtual machine': ['kind vm.rename'],
  'create an API key': ['kind key.create'],
  'rotate an API key': ['kind key.rotate'],
  'revoke an API key': ['kind key.revoke'],
  approve: ['action approve'],
  reject: ['action reject'],
  'approve or reject': ['action approve', 'action reject'],
  'give an emergency approval of': ['action break-glass'],
  withdraw: ['action withdraw'],
  undo: ['action undo'],
  'stop the tracking of': ['action stop-tracking'],
  'restart the tracking of': ['action track-again'],
  'stop or restart the tracking of': ['action stop-tracking', 'action track-again'],
}

/** Returns what somebody tried with a request, without the request: `approve`. Undefined for an unknown button. */
export function triedWithRequest(attempted: string): string | undefined {
  return Object.hasOwn(triedOnRequest, attempted) ? triedOnRequest[attempted] : undefined
}

/**
 * Returns what somebody tried, by the text of the entry: `evacuate a server` for `command evacuate`. Undefined for a
 * name of another version.
 */
export function triedBy(text: string): string | undefined {
  const onRequest = triedWithCard(text)
  if (onRequest !== undefined) return `${onRequest} a request`
  return Object.hasOwn(tried, text) ? tried[text] : undefined
}

/**
 * Returns the kinds and actions that find a refused attempt: `kind ip.move`, `action approve`. The person may have been refused before the
 * request or its kind was read.
 */
export function foundWith({ act, attempted, text = '' }: Pick<AuditEntry, 'act' | 'attempted' | 'text'>): string[] {
  if (act !== 'refused' || attempted === undefined) return []
  if (attempted === 'request') return ['action request']
  const what = attempted === 'read' ? (triedWithCard(text) ?? triedBy(text)) : triedWithRequest(attempted)
  return what !== undefined && Object.hasOwn(foundBy, what) ? (foundBy[what] ?? []) : []
}

/** Returns what somebody tried with a button of a card or its form, by the text of the entry: `approve` for `click request-approve`. */
function triedWithCard(text: string): string | undefined {
  const [, name] = /^(?:click|submission) (.*)$/s.exec(text) ?? []
  return name === undefined ? undefined : triedWithRequest(name)
}

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

/** Why an entry cannot count as written by Lockkeeper. */
const reasons = {
  unsigned: "it isn't signed",
  forged: "its signature doesn't match",
  'unknown-key': "it was signed with a key that Lockkeeper doesn't have",
  copied: 'it is a copy of an older entry',
} satisfies Record<Exclude<FoundEntry['verdict'], 'genuine'>, string>

/** Says why an entry cannot be verified. Undefined for a genuine one. */
export function whyUnverified({ verdict }: FoundEntry): string | undefined {
  return verdict === 'genuine' ? undefined : reasons[verdict]
}

/** Says how many of the entries cannot be verified, and why: `1 of 6 entries: it isn't signed`. Undefined if all are genuine. */
export function unverifiedAmong(entries: FoundEntry[]): string | undefined {
  const why = entries.map(whyUnverified).filter((reason) => reason !== undefined)
  if (why.length === 0) return undefined
  const count = entries.length === 1 ? '' : `${why.length} of ${entries.length} entries: `
  return `${count}${[...new Set(why)].join('; ')}`
}
