import { guest, type Members, moveAskers, type Name, stranger } from './staff.ts'

/**
 * What a request is, and what every click on it leads to, told a second time and in other words than the bot does: from the policy in
 * `staff.ts` alone.
 */
export interface ModelRequest {
  id: string
  kind: 'ip.move' | 'vm.rename'
  resource: string
  by: Name
  /** `started`: approved, and on its way to `tracking` or `done`, which nobody decides. */
  state: 'waiting' | 'started' | 'tracking' | 'done' | 'not-started' | 'rejected' | 'withdrawn' | 'expired' | 'untracked'
  approvals: Name[]
  decidedBy: Name | undefined
  /** Its time is over, so that whoever comes next may find it expired. */
  isOver: boolean
  /** A replica crashed while it was on its way: what was about to be written may never be, and is told so. */
  mayBeLost: boolean
  /** Somebody has asked for something else with the same thing since. */
  isTakenOver: boolean
}

export const buttons = ['approve', 'reject', 'withdraw', 'again', 'stopTracking', 'trackAgain'] as const
export type Button = (typeof buttons)[number]

/** `hash`: not that of the request. `id`: of no request. `copy`: on another message. */
export type Forgery = 'hash' | 'id' | 'copy'

export interface Event {
  person: Name
  does: Button | 'submit-reject' | 'submit-break-glass'
  forged?: Forgery | undefined
  /** At a replica that loses an answer of Redis, or crashes, meanwhile. */
  isHit?: boolean
}

export type Answer =
  /** No words: the request changes. */
  | 'effect'
  | 'counted'
  | 'duplicate'
  | 'still waiting'
  | `late:${'approved' | 'rejected' | 'withdrawn' | 'expired'}`
  | `denied:${'guest' | 'stranger' | 'self' | 'approver' | 'owner' | 'asker'}`
  | 'taken over'
  | 'forged'
  | 'unknown'
  | 'stale'
  /** The bot cannot reach Redis: whether it was done is not said. */
  | 'memory'
  | `form:${'reject' | 'break-glass' | 'again'}`

export interface Outcome {
  answer: Answer
  /** Said beside it. */
  also?: Answer
  next: ModelRequest
}

/** Everything that may come of it: more than one thing only where what nobody decides (time, the worker) may come first. */
export function outcomesOf(request: ModelRequest, event: Event, members: Members): Outcome[] {
  const usual = usualOutcomesOf(request, event, members)
  // Whether somebody may use the bot at all is not asked of Redis.
  if (!event.isHit || event.person === guest || event.person === stranger) return usual
  // Then the record tells: either nothing has come of it, or all of what else would have, and nothing in between.
  const unsaid = [request, ...usual.map(({ next }) => next)].map((next): Outcome => ({ answer: 'memory', next }))
  // A form opens before it is known whether it is of any use, and stays open where that cannot be found out.
  const forms = { reject: 'form:reject', again: 'form:again' } as const
  const form = event.does === 'reject' || event.does === 'again' ? forms[event.does] : undefined
  return [...usual, ...unsaid, ...(form ? unsaid.map(({ next }): Outcome => ({ answer: form, also: 'memory', next })) : [])]
}

function usualOutcomesOf(request: ModelRequest, { person, does, forged }: Event, members: Members): Outcome[] {
  const stays = (answer: Answer): Outcome[] => [{ answer, next: request }]
  if (person === guest) return stays('denied:guest')
  if (person === stranger) return stays('denied:stranger')
  if (forged) return stays(({ hash: 'forged', id: 'unknown', copy: 'stale' } as const)[forged])
  const mayDecide = person !== request.by && isApprover(request, person, members)

  switch (does) {
    case 'approve':
      if (person === request.by) return approveOwn(request, members)
      return mayDecide ? whileWaiting(request, (now) => approve(now, person, members)) : stays('denied:approver')
    case 'reject':
    case 'submit-reject':
      // Who submits has a form that should not have stayed open: they are told only that it is not theirs to decide.
      if (person === request.by && does === 'submit-reject') return stays('denied:self')
      if (person === request.by) return whileWaiting(request, (now) => [{ answer: 'denied:self', next: now }])
      if (!mayDecide) return stays('denied:approver')
      return whileWaiting(request, (now) => {
        if (does === 'reject') return [{ answer: 'form:reject', next: now }]
        if (now.isOver) return [expired(now)]
        return [{ answer: 'effect', next: { ...now, state: 'rejected', decidedBy: person } }]
      })
    case 'submit-break-glass':
      if (!members.oncall.includes(person)) return stays('denied:approver')
      return whileWaiting(request, (now) =>
        now.isOver ? [expired(now)] : [{ answer: 'effect', next: { ...now, state: 'started', decidedBy: person } }],
      )
    case 'withdraw':
      if (person !== request.by) return stays('denied:owner')
      return whileWaiting(request, (now) => [{ answer: 'effect', next: { ...now, state: 'withdrawn' } }])
    case 'again':
      return stays(mayAsk(request.kind, person) ? 'form:again' : 'denied:asker')
    case 'stopTracking':
      return mayDecide || person === request.by ? stop(request) : stays('denied:approver')
    case 'trackAgain':
      if (!mayDecide && person !== request.by) return stays('denied:approver')
      if (request.state !== 'untracked') return late(request)
      return request.isTakenOver ? stays('taken over') : [{ answer: 'effect', next: { ...request, state: 'started' } }]
  }
}

export function mayAsk(kind: ModelRequest['kind'], person: Name): boolean {
  return kind === 'vm.rename' || moveAskers.includes(person)
}

export function isOpen({ state }: ModelRequest): boolean {
  return state === 'waiting' || state === 'started' || state === 'tracking'
}

/** Those who may approve a move are on call; those who may approve a rename are on call, or look after security. */
function isApprover({ kind }: ModelRequest, person: Name, { oncall, security }: Members): boolean {
  return oncall.includes(person) || (kind === 'vm.rename' && security.includes(person))
}

/** Two of those on call for a move; for a rename one of them, and somebody else of security. All of them as they are now. */
export function isEnough({ kind, approvals }: ModelRequest, { oncall, security }: Members): boolean {
  const onCall = approvals.filter((person) => oncall.includes(person))
  if (kind === 'ip.move') return onCall.length >= 2
  return onCall.some((one) => approvals.some((other) => other !== one && security.includes(other)))
}

function approve(request: ModelRequest, person: Name, members: Members): Outcome[] {
  if (request.approvals.includes(person)) return [{ answer: 'duplicate', next: request }]
  if (request.isOver) return [expired(request)]
  const next = { ...request, approvals: [...request.approvals, person] }
  if (!isEnough(next, members)) return [{ answer: 'counted', next }]
  return [{ answer: 'effect', next: { ...next, state: 'started', decidedBy: person } }]
}

/** What has become of it comes first; where they could not have broken the glass either, that they could not is as true. */
function approveOwn(request: ModelRequest, { oncall }: Members): Outcome[] {
  const inEmergency = request.kind === 'ip.move'
  const answer = inEmergency && oncall.includes(request.by) ? 'form:break-glass' : inEmergency ? 'denied:approver' : 'denied:self'
  const outcomes = whileWaiting(request, (now) => [{ answer, next: now }])
  return answer === 'denied:approver' && request.state !== 'waiting' ? [...outcomes, { answer, next: request }] : outcomes
}

function stop(request: ModelRequest): Outcome[] {
  const stopped: Outcome = { answer: 'effect', next: { ...request, state: 'untracked' } }
  if (request.state === 'tracking') return [stopped]
  return request.state === 'started' && request.kind === 'ip.move' ? [...late(request), stopped] : late(request)
}

/** Where time is over, a worker may have been first. */
function whileWaiting(request: ModelRequest, then: (request: ModelRequest) => Outcome[]): Outcome[] {
  if (request.state !== 'waiting') return late(request)
  return request.isOver ? [...then(request), expired(request)] : then(request)
}

function expired(request: ModelRequest): Outcome {
  return { answer: 'late:expired', next: { ...request, state: 'expired' } }
}

function late(request: ModelRequest): Outcome[] {
  const stays = (answer: Answer): Outcome => ({ answer, next: request })
  switch (request.state) {
    case 'waiting':
      return request.isOver ? [stays('still waiting'), expired(request)] : [stays('still waiting')]
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return [stays(`late:${request.state}`)]
    default:
      return [stays('late:approved')]
  }
}
