import type { Channel, Person } from './api.ts'
import { type ShownRequest, waitingFor } from './requests.ts'

/** What a newcomer can do next. `to` is the person to switch to. `switch-from-own`: an approver made the request, and may approve it alone. */
export type NextStep =
  | { is: 'request' }
  | { is: 'go-to'; channel: Channel }
  | { is: 'switch-to-approver'; to: Person; request: ShownRequest }
  | { is: 'switch-from-own'; to: Person; request: ShownRequest }
  | { is: 'decide'; request: ShownRequest }
  | { is: 'create-key'; request: ShownRequest }
  | { is: 'switch-to-requester'; to: Person; request: ShownRequest; why: 'create-key' | 'report' }
  | { is: 'wait'; request: ShownRequest }
  | { is: 'explore'; request: ShownRequest }
  | { is: 'ask-for-request'; to: Person }
  | { is: 'outside'; request: ShownRequest | undefined }

/**
 * Decides the next step of this person, from the newest request. `elsewhere`: the channel in which Lockkeeper takes commands, if the person
 * is in another one.
 */
export function nextStep(me: Person, people: Person[], requests: ShownRequest[], elsewhere?: Channel): NextStep {
  const step = stepOf(me, people, requests)
  return elsewhere && (step.is === 'request' || step.is === 'explore') ? { is: 'go-to', channel: elsewhere } : step
}

function stepOf(me: Person, people: Person[], requests: ShownRequest[]): NextStep {
  const waiting = requests.findLast(({ stage }) => stage === 'waits')
  if (me.role === 'outsider') return { is: 'outside', request: waiting }

  const mine = waitingFor(requests, me).at(-1)
  if (mine) return mine.stage === 'waits' ? { is: 'decide', request: mine } : { is: 'create-key', request: mine }

  const request = requests.at(-1)
  const requester = people.find(({ id }) => id === request?.requester)
  if (!request) return firstStep(me, people)
  if (request.stage === 'waits') {
    const approver = people.find((person) => waitingFor([request], person).length > 0)
    if (!approver) return { is: 'wait', request }
    const isOwn = me.role === 'approver' && request.requester === me.id
    return { is: isOwn ? 'switch-from-own' : 'switch-to-approver', to: approver, request }
  }
  if (request.stage === 'runs') return { is: 'wait', request }
  if (requester && requester.id !== me.id && (request.stage === 'to-create' || request.isReported)) {
    return { is: 'switch-to-requester', to: requester, request, why: request.stage === 'to-create' ? 'create-key' : 'report' }
  }
  return { is: 'explore', request }
}

function firstStep(me: Person, people: Person[]): NextStep {
  const requester = people.find(({ role }) => role === 'requester')
  return me.role === 'approver' && requester ? { is: 'ask-for-request', to: requester } : { is: 'request' }
}
