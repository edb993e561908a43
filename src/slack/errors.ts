import { ApiContractError, ApiError, ApiUnreachableError, isFeatureMissing } from '../domain/api-errors.ts'
import { documentedRefusal } from '../domain/documented-refusals.ts'
import { StoreUnavailableError, UserError } from '../domain/errors.ts'
import type { Words } from '../domain/finding.ts'
import { ListCutError } from '../domain/list-errors.ts'
import { escapeMrkdwn, type Mrkdwn, mrkdwn } from './text/text.ts'

/** A refusal in mrkdwn, so that its sentence can mention people and channels. */
export class Refusal extends UserError {
  override name = 'Refusal'
  readonly words: Mrkdwn

  constructor(words: Mrkdwn) {
    super(words.text)
    this.words = words
  }
}

/** Answers a button that this version does not know, or whose value it cannot read. */
export const outdatedButton = mrkdwn`This button is out of date. Run the command again.`

/** Explains an error in mrkdwn for a message. Undefined for an unexpected error. */
export function toUserWords(error: unknown): Mrkdwn | undefined {
  if (error instanceof Refusal) return error.words
  const sentence = toUserMessage(error)
  return sentence === undefined ? undefined : escapeMrkdwn(sentence)
}

/**
 * Explains an error in plain text: what happened and what to do. Text from outside in it is not escaped yet. Undefined for an unexpected
 * error: the caller logs it under a reference, and gives the person that reference.
 */
export function toUserMessage(error: unknown): string | undefined {
  if (error instanceof UserError) return error.message
  if (error instanceof StoreUnavailableError) {
    return "Lockkeeper's database (Redis) isn't responding. Try again in a minute; nothing runs twice. If it lasts, tell the people who run Lockkeeper."
  }
  if (error instanceof ApiUnreachableError) {
    return error.requestSent === 'no'
      ? "Couldn't reach the account API. Nothing was changed. Try again in a minute."
      : "The account API didn't answer in time. Try again in a minute. If it lasts, check its status page."
  }
  if (error instanceof ListCutError) {
    return "The account's list is too long to read to its end. Nothing was changed. Use an id instead of a name or an address."
  }
  if (error instanceof ApiContractError) {
    return 'The account API returned an unexpected answer. Tell the people who run Lockkeeper. The log has the details.'
  }
  if (error instanceof ApiError) return apiErrorSentence(error)
  return undefined
}

/** Explains a refusal of the account API: why, and what to do next. */
export function apiErrorSentence(error: ApiError): string {
  const { why, next } = explainRefusal(error)
  return next === undefined ? why : `${why} ${next}`
}

/** Explains a refusal in two parts, for the card of a refused request. A card with a `next` offers no second try. */
export function explainRefusal(error: ApiError): Words {
  return documentedRefusal(error) ?? (isFeatureMissing(error) ? featureMissing(error) : { why: statusSentence(error) })
}

/**
 * Explains a refused write, for the request's record. `nothing` is a sentence that says that it had no effect. It goes where it does not
 * separate the reason from the next step.
 */
export function refusedWrite(error: ApiError, nothing: string): Words {
  const { why, next } = explainRefusal(error)
  return next === undefined ? { why: `${why} ${nothing}` } : { why: `${nothing} ${why}`, next }
}

function featureMissing(error: ApiError): Words {
  return {
    why: `This needs a feature that is not enabled for the team.${said(error)}`,
    next: "Ask the provider's support to enable it.",
  }
}

function statusSentence(error: ApiError): string {
  if (error.status === 401)
    return "The account API rejects Lockkeeper's API key (401). The people who run Lockkeeper must set a valid INFRA_API_KEY."
  if (error.status === 403)
    return `Lockkeeper's API key isn't allowed to do this (403). It may be read-only, or limited to other addresses.${said(error)} Tell the people who run Lockkeeper.`
  if (error.status === 429) return 'The account API is limiting requests (429). Try again in a minute.'
  if (error.status >= 500) return `The account API returned an error (${error.status}). Try again in a minute.`
  if (error.status === 409)
    return `The account API is busy with another change of this resource (409).${said(error)} Try again when that change has ended.`
  if (error.status === 404) return `The account API couldn't find this (404).${said(error)}`
  return `The account API refused this (${error.status}${error.codes.length > 0 ? `, ${error.codes.join(', ')}` : ''}).${said(error)}`
}

function said(error: ApiError): string {
  return error.detail ? ` It says: “${error.detail.replace(/[.\s]+$/, '')}”.` : ''
}
