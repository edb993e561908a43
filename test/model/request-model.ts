import { guest, type Members, moveRequesters, type Name, stranger } from './staff.ts'

/** A request and the result of every click on it, modeled from the policy in `staff.ts` and without the code of the bot. */
export interface ModelRequest {
  id: string
  kind: 'ip.move' | 'vm.rename'
  resource: string
  by: Name
  /** `started`: approved, and on its way to `tracking` or `done` without a decision. */
  state: 'waiting' | 'started' | 'tracking' | 'done' | 'not-started' | 'rejected' | 'withdrawn' | 'expired' | 'untracked' | 'superseded'
  approvals: Name[]
  decidedBy: Name | undefined
  /** Its deadline has passed, so the next act may find it expired. */
  isOver: boolean
  /** A replica crashed while the request was executed. The write may be missing, which is reported as not started. */
  mayBeLost: boolean
  /** Another change of the same resource was requested since. Once that has ended, this one can be tracked again, and may end by it. */
  isTakenOver: boolean
}

export const buttons = ['approve', 'reject', 'withdraw', 'again', 'stopTracking', 'trackAgain'] as const
export type Button = (typeof buttons)[number]

/** `hash`: of another request. `id`: of no request. `copy`: on another message. */
export type Forgery = 'hash' | 'id' | 'copy'

export interface Event {
  person: Name
  does: Button | 'submit-reject' | 'submit-break-glass'
  forged?: Forgery | undefined
  /** Handled by a replica that loses an answer of Redis, or crashes, meanwhile. */
  isHit?: boolean
}

export type Answer =
  /** No message: the request changes. */
  | 'effect'
  | 'counted'
  | 'duplicate'
  | 'still waiting'
  | `too late:${'approved' | 'rejected' | 'withdrawn' | 'expired'}`
  /** `unchecked`: on a slow machine, what is known of a group can be too old before Lockkeeper may read it again. */
  | `denied:${'guest' | 'stranger' | 'self' | 'approver' | 'owner' | 'requester' | 'unchecked'}`
  | 'taken over'
  | 'forged'
  | 'unknown'
  | 'stale'
  /** The bot cannot reach Redis, and does not say whether the act took effect. */
  | 'redis away'
  | `form:${'approve' | 'reject' | 'break-glass' | 'again'}`

export interface Outcome {
  answer: Answer
  /** A second answer, in addition. */
  also?: Answer
  next: ModelRequest
}

/** Returns everything that may follow. There are several outcomes only if time or a worker may come first. */
export function outcomesOf(request: ModelRequest, event: Event, members: Members): Outcome[] {
  const usual = [members, ...(members.joined.includes(event.person) ? [withoutPerson(members, event.person)] : [])].flatMap((known) =>
    usualOutcomesOf(request, event, known),
  )
  // What opens a form is judged by an older list, too. What is sent is not.
  const isShown = ({ answer }: Outcome) => /^(form|too late):/.test(answer)
  if (members.left.includes(event.person)) usual.push(...usualOutcomesOf(request, event, withPerson(members, event.person)).filter(isShown))
  // The check whether a person may use the bot needs no group and no Redis.
  if (event.person === guest || event.person === stranger) return usual
  const unsaid: Outcome[] = [{ answer: 'denied:unchecked', next: request }]
  // The record decides then: either nothing took effect, or everything.
  if (event.isHit) unsaid.push(...[request, ...usual.map(({ next }) => next)].map((next): Outcome => ({ answer: 'redis away', next })))
  // A form opens before its use is checked, and stays open if that cannot be checked.
  const forms = { reject: 'form:reject', again: 'form:again' } as const
  const form = event.does === 'reject' || event.does === 'again' ? forms[event.does] : undefined
  return [...usual, ...unsaid, ...(form ? unsaid.map(({ answer: also, next }): Outcome => ({ answer: form, also, next })) : [])]
}

function withoutPerson({ oncall, security, ...more }: Members, person: Name): Members {
  const others = (name: Name) => name !== person
  return { ...more, oncall: oncall.filter(others), security: security.filter(others) }
}

function withPerson({ oncall, security, ...more }: Members, person: Name): Members {
  return { ...more, oncall: [...oncall, person], security: [...security, person] }
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
      if (!mayDecide) return stays('denied:approver')
      // What is to be checked first, such as an earlier rejection, is asked in a form.
      return whileWaiting(request, (now) => [
        ...approve(now, person, members),
        ...(now.approvals.includes(person) && !isEnough(now, members) ? [] : [{ answer: 'form:approve', next: now } as const]),
      ])
    case 'reject':
    case 'submit-reject':
      // The form should not have stayed open. The answer only says that requesters cannot decide their own requests.
      if (person === request.by && does === 'submit-reject') return stays('denied:self')
      if (person === request.by) return whileWaiting(request, (now) => [{ answer: 'denied:self', next: now }])
      if (!mayDecide) return stays('denied:approver')
      return whileWaiting(request, (now) => {
        if (does === 'reject') return [{ answer: 'form:reject', next: now }]
        if (now.isOver) return [expired(now)]
        return [{ answer: 'effect', next: { ...now, state: 'rejected', decidedBy: person } }]
      })
    case 'submit-break-glass':
      if (!members.oncall.includes(person)) return stays('denied:self')
      return whileWaiting(request, (now) =>
        now.isOver ? [expired(now)] : [{ answer: 'effect', next: { ...now, state: 'started', decidedBy: person } }],
      )
    case 'withdraw':
      if (person === request.by) return withdraw(request)
      // While it waits, approvers reject it.
      if (request.state === 'waiting') return [...stays('denied:owner'), ...(request.isOver && mayDecide ? [expired(request)] : [])]
      return mayDecide ? withdraw(request) : stays('denied:approver')
    case 'again':
      return stays(mayRequest(request.kind, person) ? 'form:again' : 'denied:requester')
    case 'stopTracking':
      return mayDecide || person === request.by ? stop(request) : stays('denied:approver')
    case 'trackAgain':
      if (!mayDecide && person !== request.by) return stays('denied:approver')
      if (request.state !== 'untracked') return tooLate(request)
      return [...(request.isTakenOver ? stays('taken over') : []), { answer: 'effect', next: { ...request, state: 'started' } }]
  }
}

export function mayRequest(kind: ModelRequest['kind'], person: Name): boolean {
  return kind === 'vm.rename' || moveRequesters.includes(person)
}

export function isOpen({ state }: ModelRequest): boolean {
  return state === 'waiting' || state === 'started' || state === 'tracking'
}

/** Moves are approved by people on call, renames by people on call or of the security group. */
function isApprover({ kind }: ModelRequest, person: Name, { oncall, security }: Members): boolean {
  return oncall.includes(person) || (kind === 'vm.rename' && security.includes(person))
}

/** A move needs two people on call. A rename needs one, and another person of the security group. Membership counts as it is now. */
export function isEnough({ kind, approvals }: ModelRequest, { oncall, security }: Members): boolean {
  const onCall = approvals.filter((person) => oncall.includes(person))
  if (kind === 'ip.move') return onCall.length >= 2
  return onCall.some((one) => approvals.some((other) => other !== one && security.includes(other)))
}

function approve(request: ModelRequest, person: Name, members: Members): Outcome[] {
  // Somebody may have joined a group since.
  if (request.approvals.includes(person) && !isEnough(request, members)) return [{ answer: 'duplicate', next: request }]
  if (request.isOver) return [expired(request)]
  const next = { ...request, approvals: [...request.approvals.filter((name) => name !== person), person] }
  if (!isEnough(next, members)) return [{ answer: 'counted', next }]
  return [{ answer: 'effect', next: { ...next, state: 'started', decidedBy: person } }]
}

/** The state of the request is answered first. If the person may not break the glass either, that answer is right as well. */
function approveOwn(request: ModelRequest, { oncall }: Members): Outcome[] {
  const mayAlone = request.kind === 'ip.move' && oncall.includes(request.by)
  const answer = mayAlone ? 'form:break-glass' : 'denied:self'
  const outcomes = whileWaiting(request, (now) => [{ answer, next: now }])
  return !mayAlone && request.state !== 'waiting' ? [...outcomes, { answer, next: request }] : outcomes
}

/** An approved request can be withdrawn until its write is sent, and either may come first. */
function withdraw(request: ModelRequest): Outcome[] {
  const withdrawn = (now: ModelRequest): Outcome => ({ answer: 'effect', next: { ...now, state: 'withdrawn' } })
  if (request.state === 'started') return [...tooLate(request), withdrawn(request)]
  return whileWaiting(request, (now) => [withdrawn(now)])
}

function stop(request: ModelRequest): Outcome[] {
  const stopped: Outcome = { answer: 'effect', next: { ...request, state: 'untracked' } }
  if (request.state === 'tracking') return [stopped]
  return request.state === 'started' && request.kind === 'ip.move' ? [...tooLate(request), stopped] : tooLate(request)
}

/** If the deadline has passed, a worker may have been first. */
function whileWaiting(request: ModelRequest, then: (request: ModelRequest) => Outcome[]): Outcome[] {
  if (request.state !== 'waiting') return tooLate(request)
  return request.isOver ? [...then(request), expired(request)] : then(request)
}

function expired(request: ModelRequest): Outcome {
  return { answer: 'too late:expired', next: { ...request, state: 'expired' } }
}

function tooLate(request: ModelRequest): Outcome[] {
  const stays = (answer: Answer): Outcome => ({ answer, next: request })
  switch (request.state) {
    case 'waiting':
      return request.isOver ? [stays('still waiting'), expired(request)] : [stays('still waiting')]
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return [stays(`too late:${request.state}`)]
    default:
      return [stays('too late:approved')]
  }
}
