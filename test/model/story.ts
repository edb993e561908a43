import type { AuditEntry } from '../../src/audit/entry.ts'
import { isGenuine } from '../../src/domain/payload.ts'
import type { Request } from '../../src/domain/request.ts'
import { ops } from '../journeys/world.ts'
import type { Answer, ModelRequest } from './request-model.ts'
import type { Session } from './session.ts'
import { ids, type Name, nameOf, names } from './staff.ts'

/** What the model keeps. */
export interface Model {
  requests: ModelRequest[]
  members: { oncall: Name[]; security: Name[] }
  /** How often each person was refused for who they are, or for what they pressed. */
  refusals: Record<string, number>
  /** How many of these at a replica without Redis, which may not have been able to note them. */
  unsure: Record<string, number>
  /** How many commands were carried out. */
  steps: number
  /** `crashes`: `inTheMiddle` of something about the request that was clicked on, or while the workers did as they pleased. */
  faults: { lost: number; crashes: number; inTheMiddle: number }
  /** How often each answer was given. */
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
}

/** Whether a record is as the model says. */
export function fits(record: Request, request: ModelRequest): boolean {
  const approvals = record.approvals.map(({ by }) => by)
  return (
    (recordStates[request.state].includes(record.state) || isLost(record, request)) &&
    approvals.join() === request.approvals.map((name) => ids[name]).join() &&
    (request.decidedBy === undefined ? record.decision === undefined : record.decision?.by === ids[request.decidedBy]) &&
    isGenuine(record)
  )
}

function isLost({ state }: Request, request: ModelRequest): boolean {
  return request.state === 'started' && request.mayBeLost && state === 'not-started'
}

/** Every write that reached the account belongs to a request of its own that says just this, and was approved. Throws otherwise. */
export async function checkWrites({ accountApi, records }: Session, { requests }: Model): Promise<void> {
  // First what was written, then who had asked for it: whatever is sent between the two looks comes up at the next.
  const writes = accountApi.journal.writes()
  const sent = (await records.all())
    // What is told as not started was not sent.
    .filter(({ sentAt, state }) => sentAt !== undefined && state !== 'not-started')
    .toSorted((a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0))
  for (const { path, method, body, time } of writes) {
    const index = sent.findIndex(
      (record) => method === 'PATCH' && path === pathOf(record) && saysTheSame(record, body) && (record.sentAt ?? 0) <= time,
    )
    const [record] = index < 0 ? [] : sent.splice(index, 1)
    if (!record) throw new Error(`a write that nobody asked for, or a second one: ${method} ${path} ${JSON.stringify(body)}`)
    const request = requests.find(({ id }) => id === record.id)
    if (!request?.decidedBy || !isGenuine(record)) throw new Error(`a write that nobody approved: ${method} ${path} for ${record.id}`)
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

/** The audit tells what the model has seen: the chain is whole, one decision for each decided request, and every refusal. Throws otherwise. */
export async function checkAudit({ records }: Session, { requests, refusals, unsure }: Model): Promise<void> {
  const entries = await records.audit()
  for (const request of requests) {
    const own = entries.filter(({ requestId, act }) => requestId === request.id && act !== 'refused')
    const story = own
      .map((entry) => `${entry.act}${entry.by ? ` by ${nameOf(entry.by)}` : ''}: ${entry.from ?? ''} → ${entry.to ?? ''}`)
      .join('\n')
    const decisions = own.filter(({ from, to }) => from === 'waiting' && to !== 'waiting')
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
    const found = refused.filter(({ by }) => by === ids[name])
    const told = refusals[name] ?? 0
    if (found.length > told || found.length < told - (unsure[name] ?? 0)) {
      throw new Error(`${name} was refused ${told} times, but the audit says\n${JSON.stringify(found)}`)
    }
  }
}

/** Sent once at most, after the approval, and what was approved. */
function checkSending(own: AuditEntry[], story: string): void {
  const sendings = own.filter(({ act }) => act === 'send')
  if (sendings.length > 1) throw new Error(`sent ${sendings.length} times:\n${story}`)
  const [sending] = sendings
  if (!sending) return
  const approval = own.find(({ act, to }) => (act === 'approve' || act === 'break-glass') && to === 'approved')
  if (!approval || approval.seq > sending.seq || approval.payload !== sending.payload)
    throw new Error(`sent what was not approved:\n${story}`)
}

const toldStates: ModelRequest['state'][] = ['done', 'not-started', 'rejected', 'expired']

/** One card, and each report of it once, a stop once for each time that it was stopped; the end is told where there is one that is told. Throws otherwise, after a while. */
export async function checkTold({ slack, records }: Session, { id, state }: ModelRequest): Promise<void> {
  const { cardTs = '' } = await records.find(id)
  const told = () => {
    const messages = [...slack.messages(ops), ...slack.thread(ops, cardTs)].flatMap(({ ts, metadata }) => {
      const key = (metadata?.event_payload as { key?: string } | undefined)?.key
      if (!key?.startsWith(`${id}/`)) return []
      const [name = '', revision] = key.slice(id.length + 1).split('/')
      return [[ts, name === 'stopped' ? `${name}/${revision}` : name] as const]
    })
    return [...new Map(messages).values()]
  }
  const wanted = ['card', ...(toldStates.includes(state) ? ['ended'] : [])]
  const isTold = () => wanted.every((name) => told().includes(name))
  for (let tries = 0; !isTold() && tries < 10; tries += 1) {
    // Whoever was about to tell it may have crashed.
    if (tries > 0) await records.letHoldsPass(id)
    await slack.until(isTold, { timeoutMs: 1_500 }).catch(() => {})
  }
  const names = told()
  if (!isTold() || new Set(names).size < names.length) throw new Error(`of ${id}, which is ${state}, this was told: ${names.join(', ')}`)
}
