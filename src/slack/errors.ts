import { ApiContractError, ApiError, ApiUnreachableError, isFeatureMissing } from '../domain/api-errors.ts'
import { documentedRefusal } from '../domain/documented-refusals.ts'
import { StoreUnavailableError, UserError } from '../domain/errors.ts'
import type { Words } from '../domain/finding.ts'
import { ListCutError } from '../domain/list-errors.ts'
import { escapeMrkdwn, type Mrkdwn } from './text/text.ts'

/** A refusal in mrkdwn, so that its sentence can mention people and channels. */
export class Refusal extends UserError {
  override name = 'Refusal'
  readonly words: Mrkdwn

  constructor(words: Mrkdwn) {
    super(words.text)
    this.words = words
  }
}

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
    return 'I cannot reach my memory (Redis) just now. Try again in a minute: what went through all the same is not done twice. If it lasts, tell the people who run this bot.'
  }
  if (error instanceof ApiUnreachableError) {
    return error.requestSent === 'no'
      ? 'The account API cannot be reached just now, and nothing was changed. Try again in a minute.'
      : 'The account API did not answer in time. Try again in a minute; if it lasts, look at its status page.'
  }
  if (error instanceof ListCutError) {
    return 'The list of the account API is too long to be read to its end, so this could not be found out. Nothing was changed. Give an id in place of a name or an address.'
  }
  if (error instanceof ApiContractError) {
    return 'The account API answered with something that I do not understand. Tell the people who run this bot; the details are in its log.'
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
    return "The account API rejects the bot's API key (401). The people who run this bot have to set a valid INFRA_API_KEY."
  if (error.status === 403)
    return `The bot's API key may not do this (403): it may be read-only or limited to other addresses.${said(error)} Tell the people who run this bot.`
  if (error.status === 429) return 'The account API asks to slow down (429). Try again in a minute.'
  if (error.status >= 500) return `The account API has a problem of its own (${error.status}). Try again in a minute.`
  if (error.status === 409)
    return `The account API is busy with another change of this just now (409).${said(error)} Ask again when that has ended.`
  if (error.status === 404) return `The account API does not know this (404).${said(error)}`
  return `The account API refused (${error.status}${error.codes.length > 0 ? `, ${error.codes.join(', ')}` : ''}).${said(error)}`
}

function said(error: ApiError): string {
  return error.detail ? ` It says: “${error.detail.replace(/[.\s]+$/, '')}”.` : ''
}
