import type { ConnectionProblem } from '../../../domain/errors/connection-problem.ts'
import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')

const connectionProblems: Record<ConnectionProblem, { words: string; fix: Mrkdwn }> = {
  name: { words: 'hostname not found', fix: mrkdwn`Check the hostname in ${url} and the DNS server.` },
  refused: {
    words: 'connection refused',
    fix: mrkdwn`Check the port in ${url} and the firewalls on the way.`,
  },
  certificate: {
    words: 'TLS certificate not trusted',
    fix: mrkdwn`Check the hostname in ${url} and the clock of Lockkeeper's host. For your own certificate authority, set ${code('NODE_EXTRA_CA_CERTS')}.`,
  },
  late: {
    words: 'timed out',
    fix: mrkdwn`Check that firewalls and proxies let Lockkeeper's host reach ${url}. Check whether the account API is slow.`,
  },
  broken: {
    words: 'connection lost',
    fix: mrkdwn`Check the proxies, firewalls and load balancers between Lockkeeper's host and ${url}.`,
  },
}

export const api = {
  answers: mrkdwn`Reachable.`,
  unreachable: (problem: ConnectionProblem, code: string) => mrkdwn`Not reachable: ${connectionProblems[problem].words}${codeIn(code)}.`,
  fixUnreachable: (problem: ConnectionProblem) => connectionProblems[problem].fix,
  fails: (status: number) => mrkdwn`Returned an error (${status}) for the list of API keys.`,
  fixFails: (status: number) =>
    status >= 500 || status === 429
      ? mrkdwn`Wait a minute and run this command again. If the error stays, check the status page of the account API.`
      : mrkdwn`Check that ${url} is the base address in the account API's documentation.`,
}

export const elasticIps = ({ all, bgp }: { all: number; bgp: number }) =>
  bgp === 1
    ? mrkdwn`1 of ${all} is a BGP address. Lockkeeper doesn't move it.`
    : mrkdwn`${bgp} of ${all} are BGP addresses. Lockkeeper doesn't move them.`

export const key = {
  full: (name: string | undefined) => mrkdwn`${named(name)} is accepted and can make changes.`,
  notReachable: mrkdwn`Not checked, because the account API isn't reachable.`,
  notAsked: mrkdwn`Not checked, because the account API didn't list the keys.`,
  unlisted: mrkdwn`Accepted. Couldn't check whether it can make changes: it isn't in the list of keys.`,
  unknown: (name: string | undefined) => mrkdwn`${named(name)} is accepted. The account API doesn't show whether it can make changes.`,
  readOnly: (name: string | undefined) => mrkdwn`${named(name)} is read-only, so Lockkeeper can't make changes.`,
  fixReadOnly: mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  lacksFeature: mrkdwn`Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs.`,
  fixLacksFeature: mrkdwn`Ask the provider's support to enable it.`,
  rejected: (status: number) => mrkdwn`Rejected (${status}). Lockkeeper can't read, change or track anything.`,
  fixRejected: (status: number) =>
    status === 403
      ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${ownKey} and restart Lockkeeper.`
      : mrkdwn`Set a valid ${ownKey} and restart Lockkeeper. Requests in progress are kept and then continue.`,
}

/** Returns a transport error's code in brackets. Returns nothing for a problem that is a sentence, because the message already says it. */
function codeIn(problem: string): string {
  return /^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`This key (no name)`
}
