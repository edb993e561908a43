import { isMachine } from '../../src/domain/approval.ts'
import { isItemOpen, type Request } from '../../src/domain/request.ts'
import { EvacuationFacts } from '../../src/moves/evacuation.ts'
import type { Evidence } from './evidence.ts'

/** Checks what must hold for every address of an evacuation after a run. Returns a line for each broken promise. */
export function brokenItemPromises(run: Evidence): string[] {
  return run.records.flatMap((request) => {
    if (request.kind !== 'ip.evacuate') return []
    const ids = EvacuationFacts.parse(request.facts).items.map(({ elasticIpId }) => elasticIpId)
    return [...everyItemEnded(request, ids), ...itemsAsTheyAre(request, ids, run), ...sentOnce(request, run), ...countedRight(request, run)]
  })
}

/** An alert that is not resolved proposes one request, however often it is delivered. */
export function proposedOnce({ records }: Evidence): string[] {
  const proposed = Map.groupBy(
    records.filter(({ origin }) => isMachine(origin)),
    ({ resource }) => resource,
  )
  return [...proposed].flatMap(([resource, { length }]) => (length === 1 ? [] : [`I3: alerts proposed ${length} requests for ${resource}`]))
}

/** The items of a request that was voided were never created. */
function everyItemEnded({ id, items, sentAt }: Request, ids: string[]): string[] {
  if (sentAt === undefined) return []
  const open = (items ?? []).filter(isItemOpen).map((item) => `I1: ${item.id} of ${id} is still ${item.state}`)
  const kept = new Set(items?.map((item) => item.id))
  const forgotten = ids.filter((each) => !kept.has(each)).map((each) => `I1: ${each} of ${id} was forgotten`)
  return [...open, ...forgotten]
}

function itemsAsTheyAre({ id, items = [] }: Request, ids: string[], { elasticIps, to }: Evidence): string[] {
  const stateOf = new Map(items.map((item) => [item.id, item.state]))
  const now = new Map(elasticIps.map((elasticIp) => [elasticIp.id, elasticIp]))
  return ids.flatMap((each) => {
    const elasticIp = now.get(each)
    const isThere = elasticIp?.on === to && elasticIp.status === 'active'
    const state = stateOf.get(each) ?? 'not sent'
    return (state === 'done') === isThere ? [] : [`I4: ${each} of ${id} is ${state}, and it is ${elasticIp?.status} on ${elasticIp?.on}`]
  })
}

/** Each address has a note in the audit of its one write, and two for each refusal because of the limit. What was not sent has no write. */
function sentOnce({ id, items = [] }: Request, { audit, writes }: Evidence): string[] {
  const notes = audit.entries.filter(({ requestId }) => requestId === id)
  return items.flatMap((item) => {
    const count = (name: string) => notes.filter((note) => note.item === item.id && note.act === name).length
    const noted = count('send') - count('limit')
    const written = writes.filter(({ method, path }) => method === 'PATCH' && path.endsWith(item.id)).length
    const most = item.sentAt === undefined ? 0 : 1
    return [
      ...(noted === most ? [] : [`I5: the audit has ${noted} writes of ${item.id} of ${id}`]),
      ...(written > noted ? [`I2: ${item.id} of ${id} was written ${written} times, and ${noted} are noted`] : []),
    ]
  })
}

/** The card and the last report count what was moved. */
function countedRight({ id, items, cardTs, state }: Request, { threads }: Evidence): string[] {
  if (!items || (state !== 'done' && state !== 'failed')) return []
  const done = items.filter((item) => item.state === 'done').length
  const { card, replies = [] } = threads.find((thread) => thread.card.ts === cardTs) ?? {}
  const last = replies.findLast(({ text }) => /\*(Done\.|Partly done:|Failed:)/.test(text))
  const counts = { card: countIn(card?.text), report: countIn(last?.text) }
  return Object.entries(counts).flatMap(([where, count]) =>
    count === `${done} of ${items.length}` ? [] : [`I4: the ${where} of ${id} counts ${count}, and ${done} of ${items.length} were moved`],
  )
}

function countIn(text = ''): string | undefined {
  const [, assigned] = /(\d+) Elastic IPs? (?:is|are) assigned/.exec(text) ?? []
  return assigned === undefined ? /(\d+ of \d+) moved/.exec(text)?.[1] : `${assigned} of ${assigned}`
}
