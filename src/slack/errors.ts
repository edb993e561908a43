import type { Button } from '@slack/web-api'
import type { Words } from '../domain/change.ts'
import type { RefusalCode } from '../domain/codes.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  CheckFailed,
  connectionProblemOf,
  documentedRefusal,
  isFeatureMissing,
  isMissingRight,
  ListCutError,
  StoreUnavailableError,
  UserError,
  writeRefusalOf,
} from '../domain/errors.ts'
import { formatDuration, type Phrase, phraseText } from '../domain/text.ts'
import { escapeMrkdwn, type Mrkdwn, mrkdwn, nameWords, ownWords, phraseWords } from './text.ts'

interface RefusalOptions {
  /** The field of the form that it is about. Default: the first one. */
  field?: string
  /** From when on it is possible, in ms since 1970, if that is known. */
  retryAt?: number | undefined
  /** What a command that was refused offers instead. */
  buttons?: Button[] | undefined
  /** Whether it is about some of several: the others can be chosen in the form. */
  isOfSome?: boolean
}

/** A refusal in mrkdwn, so that its sentence can mention people and channels. */
export class Refusal extends UserError {
  override name = 'Refusal'
  readonly words: Mrkdwn
  readonly field: string | undefined
  readonly retryAt: number | undefined
  readonly buttons: Button[]
  readonly isOfSome: boolean

  constructor(code: RefusalCode, words: Mrkdwn, { field, retryAt, buttons = [], isOfSome = false }: RefusalOptions = {}) {
    super(code, words.text)
    this.words = words
    this.field = field
    this.retryAt = retryAt
    this.buttons = buttons
    this.isOfSome = isOfSome
  }
}

export function isRefused(error: unknown, code: RefusalCode): error is Refusal {
  return error instanceof Refusal && error.code === code
}

export const outdatedButton = mrkdwn`This button is out of date. Run the command again.`

/** For a form that an old message opened. */
export function goneSince(name: string): Refusal {
  return new Refusal('out-of-date', mrkdwn`${nameWords(name)} is no longer on the account. Nothing can be requested for it.`)
}

/** An error that kept a change from being requested: its sentence says so. `cause` is for the log and the operators. */
class NothingRequested extends Error {
  override name = 'NothingRequested'
  readonly buttons: Button[] = []
}

/** Adds what a refused command offers instead. */
export function withButtons(error: unknown, buttons: Button[]): unknown {
  return error instanceof Refusal || error instanceof NothingRequested
    ? Object.assign(error, { buttons: [...error.buttons, ...buttons] })
    : error
}

export function buttonsOf(error: unknown): Button[] {
  return error instanceof Refusal || error instanceof NothingRequested ? error.buttons : []
}

/** Marks an error of a change that was not requested. Errors of other kinds say so themselves, or do not know it. */
export function nothingRequested(error: unknown): unknown {
  return accountWords(error) || error instanceof CheckFailed ? new NothingRequested('nothing was requested', { cause: error }) : error
}

/** For what only reads: then there is nothing that may not be stored. */
export function reading<Given extends unknown[], Found>(read: (...given: Given) => Promise<Found>): (...given: Given) => Promise<Found> {
  return (...given) =>
    read(...given).catch((error: unknown) => {
      const isAway = error instanceof StoreUnavailableError && error.sentence === undefined
      throw isAway ? new StoreUnavailableError(error.message, error.code, notRead) : error
    })
}

const notRead = "Lockkeeper's database (Redis) isn't responding. Try again in a minute."

/** The log, the operators and machines get the error that the account API gave. */
export function causeOf(error: unknown): unknown {
  return error instanceof NothingRequested ? error.cause : error
}

export function toUserWords(error: unknown, effect?: string): Mrkdwn | undefined {
  if (error instanceof Refusal) return error.words
  const sentence = toUserMessage(error, effect)
  const cause = causeOf(error)
  const marks = cause instanceof CheckFailed ? cause.marks : []
  if (sentence === undefined) return undefined
  return ownWords(withMarks(escapeMrkdwn(sentence).text, marks))
}

/** What a mark became is not searched for the others. */
function withMarks(text: string, [mark, ...others]: Phrase): string {
  if (mark === undefined) return text
  const parts = text.split(escapeMrkdwn(phraseText([mark])).text)
  return parts.map((part) => withMarks(part, others)).join(phraseWords([mark]).text)
}

/** `effect`: what it means for a write. Text from outside is not escaped yet. Undefined for an unexpected error. */
export function toUserMessage(error: unknown, effect?: string): string | undefined {
  if (error instanceof CheckFailed) return [error.message, effect, error.next].filter(Boolean).join(' ')
  if (error instanceof UserError) return error.message
  if (error instanceof NothingRequested) return notRequested(toUserMessage(error.cause) ?? '')
  if (error instanceof StoreUnavailableError) return redisWords(error)
  const words = accountWords(error)
  return words && [words.why, effect, words.next].filter(Boolean).join(' ')
}

/** Puts it before the reason. Only words of Lockkeeper's own get a small letter after the colon, because a name can begin the sentence. */
export function notRequested(sentence: string): string {
  if (/nothing was requested|^Not requested/i.test(sentence)) return sentence
  return `Not requested: ${sentence.replace(/^(?:A|Couldn't|It|Its|No|Not|The|This|You|You've)\b/, (word) => word.toLowerCase())}`
}

/** A refusal of Redis is certain. Without an answer, and in the middle of a script, a part may have been stored. */
function redisWords(error: StoreUnavailableError): string {
  const isInScript = isMissingRight(error) && /\bscript\b/.test(error.message)
  const effect = isInScript ? 'Your last step may be stored only in part.' : "Your last step wasn't stored and won't be carried out."
  const refusal = writeRefusalOf(error.code)
  const what = isMissingRight(error) ? "Lockkeeper's user" : refusal && `writes, because ${refusal.why}`
  if (!what && error.sentence) return error.sentence
  return what
    ? `Lockkeeper's database (Redis) refuses ${what}. ${effect} Tell Lockkeeper's operators.`
    : "Lockkeeper's database (Redis) isn't responding. What you did may not be stored: try again in a minute; nothing runs twice."
}

function accountWords(error: unknown): Words | undefined {
  if (error instanceof AccountLimitError) return accountWords(error.cause) ?? limitWords(error)
  if (error instanceof ApiUnreachableError) {
    if (error.requestSent === 'no')
      return { why: "Couldn't reach the account API.", next: 'Try again in a minute, or run the doctor command.' }
    const isLate = connectionProblemOf(error.problem) === 'late'
    return {
      why: isLate ? "The account API didn't answer in time." : 'The connection to the account API was lost.',
      next: "Try again in a minute, or check the account API's status page.",
    }
  }
  if (error instanceof ListCutError)
    return { why: "The account's list is too long to read to its end.", next: 'Use an id instead of a name or an address.' }
  if (error instanceof ApiContractError)
    return { why: 'The account API returned an unexpected answer.', next: "Tell Lockkeeper's operators." }
  return error instanceof ApiError ? answerWords(error) : undefined
}

export type AccountLimit = Pick<AccountLimitError, 'kind' | 'perMinute' | 'waitMs'> & { share?: number | undefined }

export function limitWords(limit: AccountLimit): Words {
  return { why: limitReason(limit), next: `Try again in ${formatDuration(Math.max(1_000, limit.waitMs))}.` }
}

function limitReason({ kind, perMinute, share }: AccountLimit): string {
  const what = kind === 'read' ? 'reads' : 'changes'
  if (perMinute === undefined) return `The account's limit of ${what} a minute is used up.`
  // The others still have theirs, so the account's limit alone would be a wrong reason.
  if (share !== undefined) return `You've used your ${share} of the account's ${perMinute} ${what} a minute.`
  return `The account allows ${perMinute} ${what} a minute.`
}

export function apiErrorSentence(error: ApiError): string {
  return sentencesOf(answerWords(error))
}

/** Explains a refusal in two parts, for the card of a refused request. A card with a `next` offers no second try. */
export function explainRefusal(error: ApiError): Words {
  return lastingRefusal(error) ?? { why: sentencesOf(statusWords(error)) }
}

function answerWords(error: ApiError): Words {
  return lastingRefusal(error) ?? statusWords(error)
}

function lastingRefusal(error: ApiError): Words | undefined {
  const next = "Ask the provider's support to enable it."
  const missing = () => ({ why: `This needs a feature that isn't enabled for the team${said(error)}.`, next })
  return documentedRefusal(error) ?? (isFeatureMissing(error) ? missing() : undefined)
}

function sentencesOf({ why, next }: Words): string {
  return next ? `${why} ${next}` : why
}

/** For the record of a refused write. `nothing` says that it had no effect. It never separates the reason from the next step. */
export function refusedWrite(error: ApiError, nothing: string): Words {
  const { why, next } = explainRefusal(error)
  return next === undefined ? { why: `${why} ${nothing}` } : { why: `${nothing} ${why}`, next }
}

function statusWords(error: ApiError): Words {
  const { status, codes } = error
  if (status >= 500) return { why: `The account API returned an error (${status}).`, next: 'Try again in a minute.' }
  switch (status) {
    case 401:
      return {
        why: "The account API rejects Lockkeeper's API key (401).",
        next: `Lockkeeper's operators must set a valid INFRA_API_KEY.`,
      }
    case 403:
      return {
        why: `Lockkeeper's API key isn't allowed to do this (403)${said(error)}.`,
        next: "Tell Lockkeeper's operators.",
      }
    case 404:
      return { why: `The account API couldn't find this (404)${said(error)}.` }
    case 409:
      return {
        why: `Another change of this resource is under way (409)${said(error)}.`,
        next: 'Try again when it has ended.',
      }
    case 429:
      return { why: 'The account API is limiting requests (429).', next: 'Try again in a minute.' }
    default:
      return { why: `The account API refused this (${[status, ...codes].join(', ')})${said(error)}.` }
  }
}

function said(error: ApiError): string {
  return error.detail ? `: “${error.detail.replace(/[.\s]+$/, '')}”` : ''
}
