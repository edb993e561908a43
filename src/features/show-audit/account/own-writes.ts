import type { AuditEntry } from '../../../audit/entry.ts'
import type { Catalog } from '../../../requests/catalog.ts'
import { type ItemStepName, isEnd, isSend, type StepName, stateOfAct } from '../../../requests/steps.ts'

/** The account notes an event at most this long after Lockkeeper's own note of the answer. */
const latestMs = 2 * 60_000

/** Finds the change of a kind, which has the words by which the account's events may name its write. */
export type EventActions = Pick<Catalog, 'changeIfKnown'>

/** Whether a step is about a write of the request or its result. The writes of `begin` are those of the items, which have their own steps. */
const isAboutItsWrite: Record<StepName, boolean> = {
  approve: false,
  'count-approval': false,
  exempt: false,
  'break-glass': false,
  reject: false,
  withdraw: false,
  'withdraw-resolved': false,
  'lose-sight': false,
  'regain-sight': false,
  'note-resolved': false,
  'note-undone': false,
  'note-retried': false,
  'remind-half': false,
  'remind-last': false,
  'remind-handover-half': false,
  'remind-handover-last': false,
  expire: false,
  'expire-approved': false,
  void: false,
  drop: false,
  begin: false,
  'wait-for-account': false,
  'wait-for-turn': false,
  'wait-for-worker': false,
  limit: true,
  send: true,
  issue: true,
  accept: true,
  late: false,
  finish: true,
  fail: true,
  'fail-begun': true,
  supersede: true,
  'not-start': true,
  'correct-to-tracking': true,
  'correct-to-done': true,
  'correct-to-failed': true,
  'correct-to-superseded': true,
  'correct-to-not-started': true,
  'stop-tracking': false,
  distrust: false,
  'track-again': false,
}

/** The step of a request that each step of an item corresponds to, if it is about the write of the item. */
const asStepOfRequest: Record<ItemStepName, StepName | undefined> = {
  'send-item': 'send',
  'limit-item': 'limit',
  'skip-item': undefined,
  'accept-item': 'accept',
  'late-item': undefined,
  'finish-item': 'finish',
  'fail-item': 'fail',
  'supersede-item': 'supersede',
  'not-start-item': 'not-start',
  'restart-item': 'correct-to-tracking',
}

const writeActs = new Set(['answer', ...Object.entries(isAboutItsWrite).flatMap(([name, isAbout]) => (isAbout ? [name] : []))])

/** One of Lockkeeper's own writes to the account. Times are in ms since 1970. */
export interface OwnWrite {
  targetId: string
  /** The words by which the account's event may name the write. */
  actions: string[]
  sentAt: number
  /** The latest time of the account's event. */
  until: number
  /** The entry that an event of this write confirms. */
  entry: AuditEntry
}

/** Returns the account's id of a resource: `eip_1` for `elastic_ip:eip_1`. Returns undefined for a key that does not exist yet. */
export function targetIdOf(resource: string): string | undefined {
  return resource.startsWith('api_key_name:') ? undefined : resource.slice(resource.indexOf(':') + 1)
}

/** Returns the id of a key that was created, if the entry has it. */
export function createdIdOf({ resourceId, causes = [] }: AuditEntry): string | undefined {
  return resourceId ?? causes.map((cause) => cause.resourceId).find((id) => typeof id === 'string')
}

/** Whether an entry may be about a write to one of these targets. The id of a new key is only in the entries of its name. */
export function isAboutWrite(entry: AuditEntry, targetIds: Set<string>): boolean {
  const { act, resource = '' } = entry
  return writeActs.has(plainActOf(act)) && (resource.startsWith('api_key_name:') || targetIds.has(targetIdOf(resource) ?? ''))
}

/** Finds the writes that these entries are about. */
export function ownWritesIn(entries: AuditEntry[], catalog: EventActions): OwnWrite[] {
  const requests = new Map<string, AuditEntry[]>()
  for (const entry of entries.toSorted((a, b) => a.seq - b.seq)) {
    if (entry.requestId === undefined || !writeActs.has(plainActOf(entry.act))) continue
    const write = `${entry.requestId} ${entry.item ?? ''}`
    requests.set(write, [...(requests.get(write) ?? []), plainEntry(entry)])
  }
  return [...requests.values()].flatMap((one) => writesOfRequest(one, catalog))
}

/** Returns an entry of an item as one of a request with this item alone. Its states are then those of the item. */
function plainEntry(entry: AuditEntry): AuditEntry {
  const act = plainActOf(entry.act)
  return entry.item === undefined ? entry : { ...entry, act, to: stateOfAct(act) }
}

function plainActOf(act: string): string {
  return Object.hasOwn(asStepOfRequest, act) ? (asStepOfRequest[act as ItemStepName] ?? act) : act
}

/** Returns no write if the account refused it, or if it did not start. Events of that time belong to somebody else. */
function writesOfRequest(entries: AuditEntry[], catalog: EventActions): OwnWrite[] {
  const send = entries.find(({ act }) => isSend(act))
  const change = catalog.changeIfKnown(send?.kind ?? '')
  const targetId = targetIdOf(send?.resource ?? '') ?? entries.map(createdIdOf).find((id) => id !== undefined)
  const outcome = entries.findLast(({ act }) => isEnd(act) || act === 'correct-to-tracking')
  if (!send || !change || !targetId || entries.some(isRefused) || outcome?.to === 'not-started') return []

  const accepted = entries.findLast(({ act }) => act === 'accept' || act === 'answer' || act === 'correct-to-tracking')
  const write = { targetId, actions: change.eventActions, sentAt: send.at, until: (accepted?.at ?? send.at) + latestMs, entry: send }
  // Lockkeeper deletes a key whose token nobody has seen.
  const failed = entries.findLast(({ act, to }) => isEnd(act) && to === 'failed')
  const retractActions = change.handover?.retractActions
  const retraction = failed && retractActions ? [{ ...write, actions: retractActions, until: failed.at + latestMs, entry: failed }] : []
  return [write, ...retraction]
}

/** Whether the account refused the write. A 408 or 429 may come from a proxy in front of it. */
function isRefused({ answer }: AuditEntry): boolean {
  const status = answer?.status ?? 0
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}
