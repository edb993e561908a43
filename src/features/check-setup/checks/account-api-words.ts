import type { BudgetFigure } from '../../../account-api/budget.ts'
import type { ReadKeyProblem } from '../../../domain/account/api-key.ts'
import type { CallKind } from '../../../domain/account/lane.ts'
import type { ConnectionProblem } from '../../../domain/errors/connection-problem.ts'
import { formatDuration } from '../../../domain/text/duration.ts'
import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { AccountApiReading } from '../facts.ts'

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')
const ownReadKey = code('INFRA_READ_KEY')

type Limited = Extract<AccountApiReading, { is: 'limited' }>
type Rejected = Extract<AccountApiReading, { is: 'rejects' }>

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
  limited: ({ why, waitMs }: Limited) =>
    mrkdwn`Not checked, because of the limit. ${why} Run this command again in ${formatDuration(Math.max(1_000, waitMs))}.`,
  fails: (status: number) => mrkdwn`Returned an error (${status}) for the list of API keys.`,
  fixFails: (status: number) =>
    status >= 500 || status === 429
      ? mrkdwn`Wait a minute and run this command again. If the error stays, check the status page of the account API.`
      : mrkdwn`Check that ${url} is the base address in the account API's documentation.`,
}

export const policy = {
  unseen: (ids: Mrkdwn) => mrkdwn`No server, Elastic IP or virtual machine shows ${ids}.`,
  fix: mrkdwn`Check the spelling in ${code('POLICY_FILE')}. A rule for a project that doesn't exist never applies.`,
}

export const elasticIps = ({ all, bgp }: { all: number; bgp: number }) =>
  bgp === 1
    ? mrkdwn`1 of ${all} is a BGP address. Lockkeeper doesn't move it.`
    : mrkdwn`${bgp} of ${all} are BGP addresses. Lockkeeper doesn't move them.`

export const key = {
  full: (name: string | undefined) => mrkdwn`${named(name)} is accepted and can make changes.`,
  notReachable: mrkdwn`Not checked, because the account API isn't reachable.`,
  limited: mrkdwn`Not checked, because of the account's limit.`,
  notSet: mrkdwn`Not set. This process reads with ${code('INFRA_READ_KEY')}, and workers make the changes.`,
  notAsked: mrkdwn`Not checked, because the account API didn't list the keys.`,
  unlisted: mrkdwn`Accepted. Couldn't check whether it can make changes: it isn't in the list of keys.`,
  unknown: (name: string | undefined) => mrkdwn`${named(name)} is accepted. The account API doesn't show whether it can make changes.`,
  readOnly: (name: string | undefined) => mrkdwn`${named(name)} is read-only, so Lockkeeper can't make changes.`,
  fixReadOnly: mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  lacksFeature: mrkdwn`Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs.`,
  fixLacksFeature: mrkdwn`Ask the provider's support to enable it.`,
  rejected: ({ status }: Rejected) => mrkdwn`Rejected (${status}). Lockkeeper can't read, change or track anything.`,
  fixRejected: ({ status, key: variable }: Rejected) =>
    status === 403
      ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${code(variable)} and restart Lockkeeper.`
      : mrkdwn`Set a valid ${code(variable)} and restart Lockkeeper. Requests in progress are kept and then continue.`,
}

export const readKey = {
  fits: (name: string | undefined) => mrkdwn`${named(name)} is accepted, for reads.`,
  problems: {
    'not-listed': mrkdwn`${ownReadKey} isn't in the list of keys, so lists and forms may fail.`,
    'not-read-only': mrkdwn`${ownReadKey} has full access.`,
    'of-another-user': mrkdwn`${ownReadKey} belongs to another user than ${ownKey}, so it may not read the same.`,
  } satisfies Record<ReadKeyProblem, Mrkdwn>,
  fix: mrkdwn`Create a read-only key with the user of ${ownKey}, set it as ${ownReadKey}, and restart Lockkeeper.`,
}

const purposes: Record<BudgetFigure['lane'], string> = {
  execute: 'for changes',
  person: 'for people',
  track: 'for tracking',
  background: 'in the background',
  change: 'single',
  bundle: 'of evacuations',
  retract: 'deletions of keys',
}

export const limits = {
  allowed: ({ read, write }: Record<CallKind, number>, hasReadKey: boolean) =>
    mrkdwn`The account allows ${read} reads${hasReadKey ? ' with each key' : ''} and ${write} changes a minute.`,
  used: (figures: BudgetFigure[]) => mrkdwn`Last minute: ${usedOf(figures, 'read', 'reads')}, ${usedOf(figures, 'write', 'changes')}.`,
}

/** `18 reads (16 for people, 2 before changes)` */
function usedOf(figures: BudgetFigure[], kind: CallKind, what: string): string {
  const used = figures.filter((each) => each.kind === kind && each.used > 0)
  const sum = used.reduce((total, each) => total + each.used, 0)
  return `${sum} ${what}${sum === 0 ? '' : ` (${used.map((each) => `${each.used} ${purposes[each.lane]}`).join(', ')})`}`
}

/** Returns a transport error's code in brackets. Returns nothing for a problem that is a sentence, because the message already says it. */
function codeIn(problem: string): string {
  return /^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`This key (no name)`
}
