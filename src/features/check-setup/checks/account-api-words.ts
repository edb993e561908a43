import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { ConnectionProblem } from './connection-problem.ts'

const connectionProblems: Record<ConnectionProblem, { words: string; fix: string }> = {
  name: { words: 'its name is not found', fix: 'See that the host name in INFRA_API_URL is right, and that the name server knows it.' },
  refused: {
    words: 'the connection is refused',
    fix: 'See that the port in INFRA_API_URL is right, and that nothing in between refuses it.',
  },
  certificate: {
    words: 'its certificate does not convince',
    fix: 'See that INFRA_API_URL names the right host and that this clock is right; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS.',
  },
  late: {
    words: 'no answer in time',
    fix: 'See that a firewall or proxy lets this machine reach INFRA_API_URL, and whether the account API is slow just now.',
  },
  broken: {
    words: 'the connection breaks',
    fix: 'See what stands between this machine and INFRA_API_URL: a proxy, a firewall, a balancer.',
  },
}

export const api = {
  answers: mrkdwn`answers.`,
  unreachable: (problem: ConnectionProblem, code: string) =>
    mrkdwn`cannot be reached: ${connectionProblems[problem].words}${codeIn(code)}.`,
  fixUnreachable: (problem: ConnectionProblem) => mrkdwn`${connectionProblems[problem].fix}`,
  fails: (status: number) => mrkdwn`answers with status ${status} when it is asked for its keys.`,
  fixFails: (status: number) =>
    status >= 500 || status === 429
      ? mrkdwn`Wait a minute and ask again; if it lasts, look at the status page of the account API.`
      : mrkdwn`See that INFRA_API_URL is the base address of the account API, as its documentation gives it.`,
}

export const key = {
  full: (name: string | undefined) => mrkdwn`${named(name)} is accepted, and may make changes.`,
  unlisted: mrkdwn`is accepted. Whether it may make changes could not be found out: it is not in the list of keys.`,
  unknown: (name: string | undefined) => mrkdwn`${named(name)} is accepted. Whether it may make changes is not told.`,
  readOnly: (name: string | undefined) => mrkdwn`${named(name)} is read-only: nothing can be changed with it.`,
  fixReadOnly: mrkdwn`Make a key that is not read-only, set it as INFRA_API_KEY, and start me again.`,
  lacksFeature: mrkdwn`is accepted. Whether it may make changes could not be found out: a feature that listing keys needs is not enabled for the team.`,
  fixLacksFeature: mrkdwn`Ask the provider's support to enable it.`,
  rejected: (status: number) => mrkdwn`is rejected (${status}): nothing can be looked at, carried out or followed.`,
  fixRejected: (status: number) =>
    status === 403
      ? mrkdwn`See that the key may be used from the address that I run at, and by a member of the team; or set another INFRA_API_KEY and start me again.`
      : mrkdwn`Set a valid INFRA_API_KEY, and start me again. What is under way is kept, and goes on then.`,
}

/** Returns a transport error's code in brackets. A problem that is a sentence adds nothing to the words. */
function codeIn(problem: string): string {
  return /^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`(it has no name)`
}
