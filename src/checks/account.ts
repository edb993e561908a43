import { type ApiKey, isOwnKey } from '../account/objects.ts'
import type { App } from '../app.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  type ConnectionProblem,
  connectionProblemOf,
  isFeatureMissing,
  isKeyRefused,
} from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { formatDuration } from '../domain/text.ts'
import { limitWords } from '../slack/errors.ts'
import { code, type Mrkdwn, mrkdwn, nameWords } from '../slack/text.ts'
import { type Found, factTimeoutMs, listOf, ok, unknown, wrong } from './check.ts'

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')

const connectionProblems: Record<ConnectionProblem, [words: string, fix: Mrkdwn]> = {
  name: ['hostname not found', mrkdwn`Check the hostname in ${url} and the DNS server.`],
  refused: ['connection refused', mrkdwn`Check the port in ${url} and the firewalls on the way.`],
  certificate: [
    'TLS certificate not trusted',
    mrkdwn`Check the hostname in ${url} and the clock of Lockkeeper's host. For your own certificate authority, set ${code('NODE_EXTRA_CA_CERTS')}.`,
  ],
  late: ['timed out', mrkdwn`Check that firewalls and proxies let Lockkeeper's host reach ${url}, and whether the account API is slow.`],
  broken: ['connection lost', mrkdwn`Check the proxies, firewalls and load balancers between Lockkeeper's host and ${url}.`],
}

/** What other calls have just seen counts if the limit leaves no read for this one. */
const seenMs = 60_000

interface AccountFact {
  keys: ApiKey[]
  own: Pick<App, 'ownLastSlice'>
  error?: ApiError | ApiContractError | ApiUnreachableError
  seen?: { status: NonNullable<App['accountSeen']['last']>['status']; agoMs: number } | undefined
}

export async function readAccount({ account, accountSeen, ownLastSlice }: App): Promise<AccountFact> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    return { keys: (await account.apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })).items, own: { ownLastSlice } }
  } catch (error) {
    const isAnswer = error instanceof ApiError || error instanceof ApiContractError || error instanceof AccountLimitError
    const agoMs = performance.now() - (accountSeen.last?.at ?? Number.NEGATIVE_INFINITY)
    const seen = accountSeen.last && agoMs < seenMs ? { status: accountSeen.last.status, agoMs } : undefined
    if (isAnswer || error instanceof ApiUnreachableError) return { keys: [], own: { ownLastSlice }, error, seen }
    throw error
  }
}

const checkAddress = mrkdwn`Check that ${url} is the base address in the account API's documentation.`
const waitAMinute = mrkdwn`Wait a minute and check again. If the error stays, check the status page of the account API.`

/** How a call ended: the status of its answer, or what was wrong with it. */
export type CallEnd = number | 'unreachable' | 'contract'

/** `problem`: of the connection. A missing right to list keys is no problem of the account API, and `judgeKey` tells it. */
export function judgeCall(end: CallEnd, problem?: string): Found {
  if (end === 'unreachable') {
    if (problem === undefined) return wrong(mrkdwn`Not reachable: no answer.`, connectionProblems.broken[1])
    const [words, fix] = connectionProblems[connectionProblemOf(problem)]
    // A problem that is no code is a sentence, which `words` say already.
    return wrong(mrkdwn`Not reachable: ${words}${/^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''}.`, fix)
  }
  if (end === 'contract') return wrong(mrkdwn`${url} doesn't answer like the account API.`, checkAddress)
  if (end < 400) return ok(mrkdwn`Reachable.`)
  return wrong(mrkdwn`Returned an error (${end}).`, end >= 500 || end === 429 ? waitAMinute : checkAddress)
}

export function judgeAccount({ error, seen }: AccountFact): Found {
  if (error instanceof AccountLimitError) {
    const last = seen && (seen.status === 401 ? keyRefused(401) : judgeCall(seen.status))
    const isFailed = seen && (typeof seen.status === 'string' || seen.status === 401 || seen.status >= 500)
    if (last && isFailed) return { ...last, words: mrkdwn`${last.words} Seen ${formatDuration(Math.max(1_000, seen.agoMs))} ago.` }
    const again = formatDuration(Math.max(1_000, error.waitMs))
    return unknown(mrkdwn`Not checked, because of the limit. ${limitWords(error).why} Run this command again in ${again}.`)
  }
  if (error instanceof ApiUnreachableError) return judgeCall('unreachable', error.problem)
  if (error instanceof ApiContractError) return judgeCall('contract')
  return judgeCall(!error || isKeyRefused(error) || isFeatureMissing(error) ? 200 : error.status)
}

/** The account API refuses the key with this status. */
export function keyRefused(status: number): Found {
  return wrong(
    mrkdwn`Rejected (${status}). Lockkeeper can't read, change or track anything.`,
    status === 403
      ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${ownKey} and restart Lockkeeper.`
      : mrkdwn`Set a valid ${ownKey} and restart Lockkeeper. Requests in progress are kept and then continue.`,
  )
}

export function judgeKey({ keys, own, error }: AccountFact): Found {
  if (error instanceof ApiError && isKeyRefused(error)) return keyRefused(error.status)
  if (error && !isFeatureMissing(error)) return unknown(mrkdwn`Not checked: see *Account API*.`)
  const key = keys.find((each) => isOwnKey(each, own))
  if (key?.readOnly === undefined) return unknown(mrkdwn`Accepted. The account API doesn't show whether it can make changes.`)
  if (!key.readOnly) return ok(mrkdwn`${nameWords(key.name ?? key.id)} is accepted and can make changes.`)
  return wrong(
    mrkdwn`${nameWords(key.name ?? key.id)} is read-only, so Lockkeeper can't make changes.`,
    mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  )
}

/** What the account allows one key in a minute, and what was used in the last one. */
export async function readLimits({ budget }: App) {
  return { perMinute: budget.perMinute, used: await budget.figures() }
}
type LimitsFact = Awaited<ReturnType<typeof readLimits>>

export function judgeLimits({ perMinute: { read, write }, used }: LimitsFact): Found {
  const sum = (kind: 'read' | 'write') => used.filter((each) => each.kind === kind).reduce((total, each) => total + each.used, 0)
  const allowed = mrkdwn`The account allows ${read} reads and ${write} changes a minute.`
  const words = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`
  return ok(mrkdwn`${allowed} Last minute: ${words(sum('read'), 'read')}, ${words(sum('write'), 'change')}.`)
}

interface Shown {
  id: string
  hostname?: string | undefined
  project?: { id: string }
}

/** Returns the ids of projects and the targets of alerts that nothing shows. Reads the next list only if an id is left. */
export async function readIdsUnseen({ config, lists }: App): Promise<string[]> {
  const { rules, freezes = [], alerts = [] } = config.policy
  const targets = alerts.flatMap(({ to }) => (typeof to === 'string' ? [to] : [...to.values()]))
  let unseen = [...new Set([...[...rules, ...freezes].flatMap(({ projects }) => projects?.ids ?? []), ...targets])]
  for (const list of [lists.elasticIps, lists.servers, lists.virtualMachines]) {
    if (unseen.length === 0) break
    const { items, cut }: List<Shown> = await list()
    if (cut !== undefined) return []
    const seen = new Set(items.flatMap(({ id, hostname, project }) => [id, hostname?.toLowerCase(), project?.id]))
    unseen = unseen.filter((id) => !seen.has(id) && !seen.has(id.toLowerCase()))
  }
  return unseen
}

export function judgePolicy(idsUnseen: string[]): Found | undefined {
  if (idsUnseen.length === 0) return undefined
  return unknown(
    mrkdwn`No server, Elastic IP or virtual machine shows ${listOf(idsUnseen.map((id) => code(id)))}.`,
    mrkdwn`Check the spelling in ${code('POLICY_FILE')}. A rule or freeze for a project that doesn't exist never applies.`,
  )
}
