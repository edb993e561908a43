import { ApiContractError, ApiError, ApiUnreachableError, isFeatureMissing, StoreUnavailableError, UserError } from '../domain/errors.ts'
import type { Words } from '../domain/finding.ts'
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

/** Refusals that the account API's reference documents, by code. */
const documented = new Map<string, Words>([
  ['ELASTIC_IP_NOT_ACTIVE', { why: 'The Elastic IP is not active, so it cannot be moved now.' }],
  ['SERVER_NOT_IN_PROJECT', { why: 'The server is not in the same project as the Elastic IP.' }],
  ['SITE_NOT_SUPPORTED', { why: 'The site does not support Elastic IPs.', next: "Ask the provider's support which sites do." }],
  ['SERVER_NETWORK_INCOMPATIBLE', { why: "This server's network configuration is outdated.", next: "Contact the provider's support." }],
  [
    'BGP_ELASTIC_IP_NOT_UPDATABLE',
    {
      why: 'The Elastic IP is announced by BGP, and the account API does not move such addresses.',
      next: 'Announce it from the other server.',
    },
  ],
  ['SITE_MISMATCH', { why: 'The server is not in the same site as the Elastic IP.' }],
])

/** Operations that need a feature flag of the team, by the first word of their name. */
const flagged = new Map<string, Words>([
  ['elasticIps', notEnabled('Elastic IPs', 'elastic_ips')],
  ['baselines', notEnabled('Baselines', 'baselines_api')],
])

function notEnabled(what: string, flag: string): Words {
  return { why: `${what} are not enabled for this team (feature flag ${flag}).`, next: "Ask the provider's support to enable them." }
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
  if (isFeatureMissing(error)) return featureMissing(error)
  const known = error.codes.map((code) => documented.get(code.toUpperCase())).find((words) => words !== undefined)
  return known ?? { why: statusSentence(error) }
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
  const [resource = ''] = error.operation.split('.')
  const unnamed = {
    why: `This needs a feature that is not enabled for the team.${said(error)}`,
    next: "Ask the provider's support to enable it.",
  }
  return flagged.get(resource) ?? unnamed
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
