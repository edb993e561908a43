import type { Message, Person } from './api.ts'
import type { Element } from './block-shapes.ts'

/** The action ids of Lockkeeper's buttons that a person is needed for. */
export const decisionButtons = { approve: 'request-approve', handOver: 'request-hand-over' } as const

/** A request as its message in the channel shows it. */
export interface ShownRequest {
  channel: string
  ts: string
  requester: string | undefined
  /** `waits`: for an approver. `to-create`: the requester can create the key. `ended`: its thread says how. */
  stage: 'waits' | 'to-create' | 'runs' | 'ended'
}

/** Finds the requests among the messages, oldest first. */
export function requestsIn(messages: Message[]): ShownRequest[] {
  return messages.filter(isRequest).map((message) => ({
    channel: message.channel,
    ts: message.ts,
    requester: /<@(\w+)/.exec(message.text)?.[1],
    stage: stageOf(message, messages),
  }))
}

/** Returns the requests that this person has to decide, or to create a key for. */
export function waitingFor(requests: ShownRequest[], { id, role }: Pick<Person, 'id' | 'role'>): ShownRequest[] {
  return requests.filter(({ stage, requester }) =>
    stage === 'waits' ? role === 'approver' && requester !== id : stage === 'to-create' && requester === id,
  )
}

/** Lockkeeper names each of its messages in the metadata: `<id of the request>/card` is the request message. */
function isRequest({ isBot, ephemeral, metadata, blocks = [] }: Message): boolean {
  const isNamed = metadata?.event_payload?.key?.endsWith('/card') ?? false
  return isBot && !ephemeral && (isNamed || buttonsIn(blocks).includes(decisionButtons.approve))
}

function stageOf({ ts, blocks = [] }: Message, messages: Message[]): ShownRequest['stage'] {
  const buttons = buttonsIn(blocks)
  if (buttons.includes(decisionButtons.approve)) return 'waits'
  if (buttons.includes(decisionButtons.handOver)) return 'to-create'
  return messages.some(({ threadTs, isBot, ts: replyTs }) => threadTs === ts && replyTs !== ts && isBot) ? 'ended' : 'runs'
}

function buttonsIn(blocks: NonNullable<Message['blocks']>): string[] {
  const actions = blocks.filter(({ type }) => type === 'actions')
  return actions.flatMap(({ elements = [] }) => (elements as Element[]).map(({ action_id }) => action_id ?? ''))
}
