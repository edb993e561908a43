import type { Element, Message, Person } from './shapes.ts'

/** The action ids of Lockkeeper's buttons that say how far a request is. */
export const stageButtons = { approve: 'request-approve', handOver: 'request-hand-over' } as const

/** A request as its message in the channel shows it. */
export interface ShownRequest {
  channel: string
  ts: string
  requester: string | undefined
  /** The ids of the people who have approved it so far. */
  approvedBy: string[]
  /** `waits`: for an approver. `to-create`: the requester can create the key. `later`: it is scheduled or held. */
  stage: 'waits' | 'to-create' | 'later' | 'runs' | 'ended'
  /** The button that its requester presses next, such as *Create key*. Empty if there is none. */
  next: string
  /** Whether its thread says how it ended. A withdrawn request has no report. */
  isReported: boolean
}

export function requestsIn(messages: Message[]): ShownRequest[] {
  return messages.filter(isRequest).map((message) => ({
    channel: message.channel,
    ts: message.ts,
    requester: requesterOf(message),
    approvedBy: approversIn(message),
    stage: stageOf(message),
    next: buttonsIn(message).find(({ action_id: id }) => id === stageButtons.handOver)?.text?.text ?? '',
    isReported: messages.some((reply) => reply.threadTs === message.ts && isEnd(reply)),
  }))
}

/** Returns the first person whom it names. The request of an alert has no person as its requester, and names its machine first. */
function requesterOf({ text }: Message): string | undefined {
  return /<@(\w+)|\bAlertmanager\b/.exec(text)?.[1]
}

/** Returns the people in the line that counts the approvals: `1 of 2 approvals: @Ben`. */
function approversIn({ text }: Message): string[] {
  const [, people = ''] = /^\d+ of \d+ approvals: (.*)$/m.exec(text) ?? []
  return Array.from(people.matchAll(/<@(\w+)/g), ([, id = '']) => id)
}

export function waitingFor(requests: ShownRequest[], { id, role }: Pick<Person, 'id' | 'role'>): ShownRequest[] {
  return requests.filter(({ stage, requester, approvedBy }) =>
    stage === 'waits' ? role === 'approver' && requester !== id && !approvedBy.includes(id) : stage === 'to-create' && requester === id,
  )
}

/** Says what waits for a person, such as `2 to decide, 1 key to create`. Empty if nothing does. */
export function waitingWords(requests: ShownRequest[], person: Pick<Person, 'id' | 'role'>): string {
  const waiting = waitingFor(requests, person)
  const keys = waiting.filter(({ stage }) => stage === 'to-create').length
  const decisions = waiting.length - keys
  const words = [decisions > 0 && `${decisions} to decide`, keys > 0 && `${keys} ${keys === 1 ? 'key' : 'keys'} to create`]
  return words.filter(Boolean).join(', ')
}

function isRequest(message: Message): boolean {
  const { isBot, ephemeral, metadata } = message
  return isBot && !ephemeral && (nameOf(metadata) === 'card' || hasButton(message, stageButtons.approve))
}

function isEnd({ isBot, metadata }: Message): boolean {
  return isBot && ['ended', 'stopped'].includes(nameOf(metadata))
}

/** Lockkeeper names each of its messages in the metadata: `<id of the request>/card` is the request message. */
function nameOf(metadata: Message['metadata']): string {
  return metadata?.event_payload?.key?.split('/')[1] ?? ''
}

function stageOf(message: Message): ShownRequest['stage'] {
  if (hasButton(message, stageButtons.approve)) return 'waits'
  if (hasButton(message, stageButtons.handOver)) return 'to-create'
  // How it ended stands before the change: `:large_green_circle: *Done*  ·  Move …`.
  if (/^:\w+: \*[^*]+\*\s+·/m.test(message.text)) return 'ended'
  return /\*Approved\.\* (?:Starts|Held by) /.test(message.text) ? 'later' : 'runs'
}

const hasButton = (message: Message, id: string) => buttonsIn(message).some(({ action_id }) => action_id === id)

const buttonsIn = ({ blocks = [] }: Message) =>
  blocks.filter(({ type }) => type === 'actions').flatMap(({ elements = [] }) => elements as Element[])

/** What a newcomer can do next. `to` is the person to switch to. */
export type NextStep =
  | { is: 'request' }
  | { is: 'ask-for-request' | 'switch-to-approver'; to: Person }
  | { is: 'decide' | 'create-key' | 'later' | 'wait' | 'explore'; request: ShownRequest }
  | { is: 'switch-to-requester'; to: Person; request: ShownRequest }
  | { is: 'outside'; request: ShownRequest | undefined }

/** Decides the next step of this person, from the newest request. */
export function nextStep(me: Person, people: Person[], requests: ShownRequest[]): NextStep {
  if (me.role === 'outsider') return { is: 'outside', request: requests.findLast(({ stage }) => stage === 'waits') }
  const mine = waitingFor(requests, me).at(-1)
  if (mine) return { is: mine.stage === 'waits' ? 'decide' : 'create-key', request: mine }

  const request = requests.at(-1)
  if (!request) {
    const requester = people.find(({ role }) => role === 'requester')
    return me.role === 'approver' && requester ? { is: 'ask-for-request', to: requester } : { is: 'request' }
  }
  if (request.stage === 'waits') {
    const approver = people.find((person) => waitingFor([request], person).length > 0)
    return approver ? { is: 'switch-to-approver', to: approver } : { is: 'wait', request }
  }
  if (request.stage === 'later') return { is: 'later', request }
  if (request.stage === 'runs') return { is: 'wait', request }
  const requester = people.find(({ id }) => id === request.requester)
  if (requester && requester.id !== me.id && (request.stage === 'to-create' || request.isReported)) {
    return { is: 'switch-to-requester', to: requester, request }
  }
  return { is: 'explore', request }
}
