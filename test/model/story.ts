import type { AuditEntry } from '../../src/audit/chain.ts'
import { isGenuine, type Request } from '../../src/domain/request.ts'
import { ops } from '../journeys/world.ts'
import type { Answer, ModelRequest } from './request-model.ts'
import type { Session } from './session.ts'
import { ids, type Members, nameOf, names } from './staff.ts'

export interface Model {
  requests: ModelRequest[]
  members: Members
  /** How often each person was refused, for missing rights or a forged button. */
  refusals: Record<string, number>
  /** How many of these at a replica without Redis, which may not have been able to note them. */
  unsure: Record<string, number>
  steps: number
  /** `inTheMiddle`: crashes during an exchange about the clicked request. The others happen while the workers do anything. */
  faults: { lost: number; crashes: number; inTheMiddle: number }
  seen: Partial<Record<Answer, number>>
}

const recordStates: Record<ModelRequest['state'], Request['state'][]> = {
  waiting: ['waiting'],
  started: ['approved', 'starting', 'tracking', 'done'],
  tracking: ['tracking'],
  done: ['done'],
  'not-started': ['not-started'],
  rejected: ['rejected'],
  withdrawn: ['withdrawn'],
  expired: ['expired'],
  untracked: ['untracked'],
  superseded: ['superseded'],
}

export function fits(record: Request, request: ModelRequest): boolean {
  const approvals = record.approvals.map(({ by }) => by)
  return (
    (recordStates[request.state].includes(record.state) || isLost(record, request) || isOvertaken(record, request)) &&
    approvals.join() === request.approvals.map((name) => ids[name]).join() &&
    (request.decidedBy === undefined ? record.decision === undefined : record.decision?.by === ids[request.decidedBy]) &&
    isGenuine(record)
  )
}

function isLost({ state }: Request, request: ModelRequest): boolean {
  return request.state === 'started' && request.mayBeLost && state === 'not-started'
}

export function isOvertaken({ state }: Pick<Request, 'state'>, request: ModelRequest): boolean {
  return state === 'superseded' && request.isTakenOver && (request.state === 'started' || request.state === 'tracking')
}

/** Checks that every write on the account belongs to one approved request that says exactly this. Throws otherwise. */
export async function checkWrites({ accountApi, records }: Session, { requests }: Model): Promise<void> {
  // Read the writes before the records: a write in between is checked the next time.
  const writes = accountApi.journal.writes()
  const sent = (await records.all())
    // A request that was reported as not started sent nothing.
    .filter(({ sentAt, state }) => sentAt !== undefined && state !== 'not-started')
    .toSorted((a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0))
  for (const { path, method, body, time } of writes) {
    const index = sent.findIndex(
      (record) => method === 'PATCH' && path === pathOf(record) && saysTheSame(record, body) && (record.sentAt ?? 0) <= time,
    )
    const [record] = index < 0 ? [] : sent.splice(index, 1)
    if (!record) throw new Error(`a write without a request, or a second one: ${method} ${path} ${JSON.stringify(body)}`)
    const request = requests.find(({ id }) => id === record.id)
    if (!request?.decidedBy || !isGenuine(record)) throw new Error(`a write without an approval: ${method} ${path} for ${record.id}`)
  }
}

function pathOf({ resource }: Request): string {
  const [kind, id] = resource.split(':')
  return kind === 'elastic_ip' ? `/elastic_ips/${id}` : `/virtual_machines/${id}`
}

function saysTheSame({ input }: Request, body: unknown): boolean {
  const { serverId, name } = input as { serverId?: string; name?: string }
  return JSON.stringify(body).includes(`"${serverId ?? name}"`)
}

/**
 * Checks the audit against the model: the chain is whole, each decided request has one decision, and every refusal is there. Throws
 * otherwise.
 */
export async function checkAudit({ records }: Session, { requests, refusals, unsure }: Model): Promise<void> {
  const entries = await records.audit()
  for (const request of requests) {
    const own = entries.filter(({ requestId, act }) => requestId === request.id && act !== 'refused')
    const story = own.map((entry) => `${entry.act}${entry.by ? ` by ${nameOf(entry.by)}` : ''} → ${entry.to ?? ''}`).join('\n')
    const states = own.filter(({ to }) => to !== undefined)
    const decisions = states.filter(({ to }, index) => to !== 'waiting' && states[index - 1]?.to === 'waiting')
    if (decisions.length !== (request.state === 'waiting' ? 0 : 1)) throw new Error(`${decisions.length} decisions in\n${story}`)
    const [decision] = decisions
    if (request.decidedBy && decision?.by !== ids[request.decidedBy])
      throw new Error(`decided by ${request.decidedBy}, but the audit says\n${story}`)
    const approvers = own.filter(({ act }) => act === 'approve' || act === 'count-approval').map(({ by }) => nameOf(by))
    if (approvers.join() !== request.approvals.join()) throw new Error(`approved by ${request.approvals}, but the audit says\n${story}`)
    checkSending(own, story)
  }
  const refused = entries.filter(({ act, causes }) => act === 'refused' && causes?.[0]?.code !== 'unknown-request')
  for (const name of names) {
    const own = refused.filter(({ by }) => by === ids[name])
    const expected = refusals[name] ?? 0
    // Repeats are no entries.
    if (own.length > expected || (own.length === 0 && expected > (unsure[name] ?? 0))) {
      throw new Error(`${name} was refused ${expected} times, but the audit says\n${JSON.stringify(own)}`)
    }
  }
}

/** Checks that a change was sent at most once, after its approval, and as it was approved. */
function checkSending(own: AuditEntry[], story: string): void {
  const sendings = own.filter(({ act }) => act === 'send')
  if (sendings.length > 1) throw new Error(`sent ${sendings.length} times:\n${story}`)
  const [sending] = sendings
  if (!sending) return
  const request = own.find(({ act }) => act === 'request')
  const approval = own.find(({ act, to }) => (act === 'approve' || act === 'break-glass') && to === 'approved')
  if (!approval || approval.seq > sending.seq || JSON.stringify(request?.facts) !== JSON.stringify(sending.facts))
    throw new Error(`sent what was not approved:\n${story}`)
}

const reportedStates: ModelRequest['state'][] = ['done', 'superseded', 'not-started', 'rejected', 'expired']

/**
 * Checks that there is one card and each report once, with one report for each stop, and a report of the end if its state has one. Waits a
 * while for them, then throws.
 */
export async function checkReports({ slack, records }: Session, { id, state }: ModelRequest): Promise<void> {
  const { cardTs = '' } = await records.find(id)
  const namesOfMessages = () => {
    const messages = [...slack.messages(ops), ...slack.thread(ops, cardTs)].flatMap(({ ts, metadata }) => {
      const key = (metadata?.event_payload as { key?: string } | undefined)?.key
      if (!key?.startsWith(`${id}/`)) return []
      const [name = '', revision] = key.slice(id.length + 1).split('/')
      return [[ts, name === 'stopped' ? `${name}/${revision}` : name] as const]
    })
    return [...new Map(messages).values()]
  }
  const wanted = ['card', ...(reportedStates.includes(state) ? ['ended'] : [])]
  const isReported = () => wanted.every((name) => namesOfMessages().includes(name))
  for (let tries = 0; !isReported() && tries < 10; tries += 1) {
    // The process that was about to send it may have crashed.
    if (tries > 0) await records.releaseHolds(id)
    await slack.until(isReported, { timeoutMs: 1_500 }).catch(() => {})
  }
  const names = namesOfMessages()
  if (!isReported() || new Set(names).size < names.length)
    throw new Error(`of ${id}, which is ${state}, these messages are there: ${names.join(', ')}`)
}
