import { isDeepStrictEqual } from 'node:util'
import type { AuditEntry } from '../../src/audit/chain.ts'
import { isMachine } from '../../src/domain/approval.ts'
import { isItemOpen, isOpen, type Request } from '../../src/domain/request.ts'
import { EvacuationFacts } from '../../src/features/moves/evacuation.ts'
import type { Evidence } from './evidence.ts'

export function brokenPromises(run: Evidence): string[] {
  return [
    ...everyRequestEnded(run),
    ...oneWriteEach(run),
    ...oneReportEach(run),
    ...reportedAsItIs(run),
    ...approvedBeforeSent(run),
    ...brokenItemPromises(run),
    ...proposedOnce(run),
    ...nothingLeaked(run),
    ...everyKeyWasSeen(run),
    ...noCrash(run),
    ...quietLog(run),
    ...run.audit.breaks.map((broken) => `audit: ${broken}`),
  ]
}

function everyRequestEnded({ records, rested }: Evidence): string[] {
  const open = records.filter(({ state }) => isOpen(state)).map(({ id, state }) => `I1: ${id} is still ${state}`)
  return rested ? open : ['I1: it did not come to rest', ...open]
}

function oneWriteEach({ writes }: Evidence): string[] {
  const counts = new Map<string, number>()
  for (const { method, path } of writes) if (method === 'PATCH') counts.set(path, (counts.get(path) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([path, count]) => `I2: ${path} was written ${count} times`)
}

const ends = /\*(Done\.|Partly done:|Failed:|Not started:|Superseded:|Canceled:|Expired:)\*/

function oneReportEach({ records, threads }: Evidence): string[] {
  const cardsOf = Map.groupBy(threads, ({ card }) => /(\w+)\/card/.exec(JSON.stringify(card.metadata ?? {}))?.[1])
  const threadAt = new Map(threads.map((thread) => [thread.card.ts, thread]))
  return records.flatMap(({ id, cardTs }) => {
    const cards = cardsOf.get(id) ?? []
    const thread = threadAt.get(cardTs ?? '')
    const reports = (thread?.replies ?? []).filter(({ text }) => ends.test(text))
    return [
      ...(cards.length === 1 ? [] : [`I3: ${id} has ${cards.length} cards${asList(cards.map(({ card }) => card))}`]),
      ...(reports.length === 1 ? [] : [`I3: ${id} was reported ${reports.length} times${asList(reports)}`]),
    ]
  })
}

/** Lists when each message was posted, its key, and how it begins, because a repeat says so at its beginning. */
function asList(posted: { ts: string; text: string; metadata?: unknown }[]): string {
  return posted
    .map(({ ts, text, metadata }, index) => `${index === 0 ? ': ' : ' and '}${ts} ${JSON.stringify([metadata, text.slice(0, 300)])}`)
    .join('')
}

function reportedAsItIs({ records, elasticIps, reportedTooEarly }: Evidence): string[] {
  const early = reportedTooEarly.map((text) => `I4: reported before it was true: ${text}`)
  const moves = records.filter(({ kind }) => kind === 'ip.move')
  const byId = new Map(elasticIps.map((elasticIp) => [elasticIp.id, elasticIp]))
  const wrong = moves.flatMap(({ id, state, input }) => {
    const { elasticIpId, serverId } = input as { elasticIpId: string; serverId: string }
    const now = byId.get(elasticIpId)
    const isThere = now?.on === serverId && now.status === 'active'
    return (state === 'done') === isThere ? [] : [`I4: ${id} is reported as ${state}, and ${elasticIpId} is ${now?.status} on ${now?.on}`]
  })
  return [...early, ...wrong]
}

function approvedBeforeSent({ records, audit, genuine, approvers }: Evidence): string[] {
  const lines = genuine ? [] : ['I5: a record is not what was requested']
  const entriesOf = Map.groupBy(
    audit.entries.filter(({ item }) => item === undefined),
    ({ requestId }) => requestId,
  )
  for (const { id, origin, decision, hash, sentAt } of records) {
    if (sentAt === undefined) continue
    if (!decision?.by || !approvers.includes(decision.by) || decision.by === origin.userId)
      lines.push(`I5: ${id} was sent without a valid approval`)
    const own = entriesOf.get(id) ?? []
    const approved = own.filter(({ act, to }) => act === 'approve' && to === 'approved')
    const sent = own.filter(({ act }) => act === 'send' || act === 'issue' || act === 'begin')
    const limited = own.filter(({ act }) => act === 'limit').length
    if (approved.length !== 1 || sent.length !== limited + 1)
      lines.push(
        `I5: the audit has ${approved.length} approvals, ${sent.length} writes and ${limited} refusals because of the limit of ${id}`,
      )
    const requested = own.filter(({ act }) => act === 'request')
    const asRequested = ({ facts }: AuditEntry) => isDeepStrictEqual(facts, requested[0]?.facts)
    if (requested.length !== 1 || requested[0]?.payload !== hash || !sent.every(asRequested))
      lines.push(`I5: something else was requested or sent for ${id}`)
    if ((approved[0]?.seq ?? 0) > (sent[0]?.seq ?? 0)) lines.push(`I5: ${id} was sent before it was approved`)
  }
  return lines
}

/** Checks what must hold for every address of an evacuation after a run. Returns a line for each broken promise. */
function brokenItemPromises(run: Evidence): string[] {
  return run.records.flatMap((request) => {
    if (request.kind !== 'ip.evacuate') return []
    const ids = EvacuationFacts.parse(request.facts).items.map(({ elasticIpId }) => elasticIpId)
    return [...everyItemEnded(request, ids), ...itemsAsTheyAre(request, ids, run), ...sentOnce(request, run), ...countedRight(request, run)]
  })
}

/** An alert that is not resolved proposes one request, however often it is delivered. */
function proposedOnce({ records }: Evidence): string[] {
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

function nothingLeaked({ log, said, secrets, audit }: Evidence): string[] {
  const places = { log: log.join('\n'), 'what was sent to Slack': said, audit: JSON.stringify(audit.entries) }
  return Object.entries(places).flatMap(([place, text]) =>
    secrets.flatMap((secret) => (text.includes(secret) ? [`I6: a secret is in the ${place}`] : [])),
  )
}

/**
 * Checks that a live key was shown to its requester and to nobody else, that a key reported as created lives, and that each was created
 * once.
 */
function everyKeyWasSeen({ keys, records, log, audit }: Evidence): string[] {
  if (!keys) return []
  const { live, issued, shown, made, saidOpenly } = keys
  const unseen = live.filter(({ token }) => !shown.includes(token)).map(({ name }) => `I7: ${name} lives, and nobody has seen it`)
  const done = records.filter(({ kind, state }) => kind === 'key.create' && state === 'done')
  const differing = done.length === live.length ? [] : [`I7: ${done.length} keys are reported as created, and ${live.length} live`]
  const twice = made.filter((name, index) => made.indexOf(name) !== index).map((name) => `I2: ${name} was made twice`)
  const open = { log: log.join('\n'), audit: JSON.stringify(audit.entries), 'what was shown to everybody': saidOpenly }
  const leaks = Object.entries(open).flatMap(([place, text]) =>
    issued.some((token) => text.includes(token)) ? [`I6: a token is in the ${place}`] : [],
  )
  return [...unseen, ...differing, ...twice, ...leaks]
}

function noCrash({ crashes, log }: Evidence): string[] {
  return [...crashes, ...log.filter((line) => line.includes('A defect ended the process'))].map((line) => `I8: ${line.slice(0, 300)}`)
}

/** Checks the number of warnings and errors a second, over all bots: a long outage must not fill disks. */
function quietLog({ log, seconds }: Evidence): string[] {
  const loud = log.filter((line) => /"level":"(warn|error|fatal)"/.test(line)).length
  return loud / seconds < 20 ? [] : [`I9: ${Math.round(loud / seconds)} lines of trouble a second`]
}
