import { ApiContractError, ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { escapeMrkdwn, type Mrkdwn, mrkdwn } from './text.ts'

/** A refusal in Slack's mrkdwn, with mentions of people and channels in it. */
export class Refusal extends UserError {
  override name = 'Refusal'
  readonly words: Mrkdwn

  constructor(words: Mrkdwn) {
    super(words.text)
    this.words = words
  }
}

/** The refusals of the account API that its reference documents, in our words. */
const codes: Record<string, string> = {
  ELASTIC_IP_NOT_ACTIVE: 'The Elastic IP is not active, so it cannot be moved now.',
  SERVER_NOT_IN_PROJECT: 'The server is not in the same project as the Elastic IP.',
  SITE_NOT_SUPPORTED: 'The site does not support Elastic IPs.',
  SERVER_NETWORK_INCOMPATIBLE: 'The network of the server does not fit the Elastic IP.',
  SITE_MISMATCH: 'The server is not in the same site as the Elastic IP.',
}

/** Told when the work takes longer than an answer may wait. */
export const interimWords = mrkdwn`Still at it: something behind me is slow to answer. The result follows here.`

/** Any error in words for a message, escaped; undefined for what nobody expected. */
export function toUserWords(error: unknown): Mrkdwn | undefined {
  if (error instanceof Refusal) return error.words
  const sentence = toUserMessage(error)
  return sentence === undefined ? undefined : escapeMrkdwn(sentence)
}

/**
 * Any error, as a plain sentence that says what happened and what to do. Outside text in it is not escaped yet.
 * Undefined for what nobody expected: the caller logs it under a reference and says so.
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
  if (error instanceof ApiContractError) {
    return 'The account API answered with something that I do not understand. Tell the people who run this bot; the details are in its log.'
  }
  if (error instanceof ApiError) return apiErrorSentence(error)
  return undefined
}

/** What a refusal of the account API means. */
export function apiErrorSentence(error: ApiError): string {
  const known = error.codes.map((code) => codes[code]).find((sentence) => sentence !== undefined)
  if (known) return known
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
