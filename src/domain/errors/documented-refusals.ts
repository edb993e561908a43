import type { Words } from '../change/finding.ts'
import { type ApiError, isFeatureMissing } from './api-errors.ts'

// These tables follow the reference of the account API, not the commands, so they stay complete when a command is deleted.

/** Refusals by error code. */
const byCode = new Map<string, Words>([
  ['ELASTIC_IP_NOT_ACTIVE', { why: "The Elastic IP isn't active, so it can't be moved now." }],
  ['SERVER_NOT_IN_PROJECT', { why: "The server isn't in the same project as the Elastic IP.", next: 'Choose another server.' }],
  ['SITE_NOT_SUPPORTED', { why: "The site doesn't support Elastic IPs.", next: "Ask the provider's support which sites do." }],
  ['SERVER_NETWORK_INCOMPATIBLE', { why: "The target's network configuration is outdated.", next: "Contact the provider's support." }],
  [
    'BGP_ELASTIC_IP_NOT_UPDATABLE',
    {
      why: "BGP address: several servers can announce it, so it isn't moved.",
      next: 'Close or open its BGP sessions in the dashboard.',
    },
  ],
  ['SITE_MISMATCH', { why: "The server isn't in the same site as the Elastic IP.", next: 'Choose another server.' }],
])

/** The resources whose operations need a feature flag of the team. An operation's name begins with its resource. */
const byFlaggedResource = new Map<string, Words>([
  ['elasticIps', notEnabled('Elastic IPs', 'elastic_ips')],
  ['baselines', notEnabled('Baselines', 'baselines_api')],
])

function notEnabled(what: string, flag: string): Words {
  return { why: `${what} aren't enabled for this team (feature flag ${flag}).`, next: "Ask the provider's support to enable them." }
}

/** Explains a refusal that the reference of the account API documents. Returns undefined for any other error. */
export function documentedRefusal(error: ApiError): Words | undefined {
  if (isFeatureMissing(error)) return byFlaggedResource.get(error.operation.split('.')[0] ?? '')
  return error.codes.map((code) => byCode.get(code.toUpperCase())).find((words) => words !== undefined)
}
