import type { AuditEntry } from '../../../audit/entry.ts'
import type { ItemStepName, StepName } from '../../../requests/steps.ts'

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
  'lose-sight': { word: 'lose sight', mark: ':grey_question:', words: 'The account API stopped answering' },
  'regain-sight': { word: 'regain sight', mark: ':arrows_counterclockwise:', words: 'The account API answers again' },
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
  'correct-to-tracking': { word: 'restart', mark: ':warning:', words: 'Started after all' },
  finish: { word: 'end', mark: ':large_green_circle:', words: 'Done' },
  fail: { word: 'end', mark: ':red_circle:', words: 'Failed' },
  'fail-begun': { word: 'end', mark: ':red_circle:', words: 'Failed' },
  supersede: { word: 'end', mark: ':white_circle:', words: 'Superseded by another change' },
  'not-start': { word: 'end', mark: ':white_circle:', words: 'Not started' },
  'correct-to-done': { word: 'correct', mark: ':warning:', words: 'Corrected: done' },
  'correct-to-failed': { word: 'correct', mark: ':warning:', words: 'Corrected: failed' },
  'correct-to-superseded': { word: 'correct', mark: ':warning:', words: 'Corrected: superseded by another change' },
  'correct-to-not-started': { word: 'correct', mark: ':warning:', words: 'Corrected: not started' },
  'stop-tracking': { word: 'stop-tracking', mark: ':see_no_evil:', words: 'Tracking stopped' },
  distrust: { word: 'distrust', mark: ':rotating_light:', words: "Its record can't be trusted" },
  'track-again': { word: 'track-again', mark: ':eyes:', words: 'Tracked again' },
}

/** The words for every step of an item: those of the step of a request that does the same. */
const itemStepWords: Record<ItemStepName, ActWords> = {
  'send-item': stepWords.send,
  'limit-item': stepWords.limit,
  'skip-item': stepWords.drop,
  'accept-item': stepWords.accept,
  'late-item': stepWords.late,
  'finish-item': stepWords.finish,
  'fail-item': stepWords.fail,
  'supersede-item': stepWords.supersede,
  'not-start-item': stepWords['not-start'],
  'restart-item': stepWords['correct-to-tracking'],
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
  ...itemStepWords,
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
