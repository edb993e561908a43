import type { Request } from '../../domain/request/request.ts'

/** The ids of the buttons of a card. The Home tab has the same buttons. */
export const cardButtons = {
  approve: 'request-approve',
  reject: 'request-reject',
  withdraw: 'request-withdraw',
  handOver: 'request-hand-over',
  again: 'request-again',
  reverse: 'request-reverse',
  retry: 'request-retry',
  stopTracking: 'request-stop-tracking',
  trackAgain: 'request-track-again',
  details: 'request-details',
} as const
export type CardButton = keyof typeof cardButtons
export type CardButtonId = (typeof cardButtons)[CardButton]

/** The button that opens the form for the items that were not done, and the title of that form. */
export const retryLabel = 'Retry the rest'

/** The button that shows the Home tab again. */
export const refreshHome = 'refresh-home'

export const rejectCallbackId = 'request-reject'
export const breakGlassCallbackId = 'request-break-glass'

const hashLength = 16

/** The version of a button's value. CONTRIBUTING.md says how stored shapes may change. */
const version = '1'

/** Builds the value of a button: the id of the request, and the hash of what was requested. So the button fits no other request. */
export function buttonValue({ id, hash }: Pick<Request, 'id' | 'hash'>): string {
  return `${version}.${id}.${hash.slice(0, hashLength)}`
}

/** Reads the value of a button. Returns undefined for a value that this version of Lockkeeper did not write. */
export function readButton(value: string): { id: string; hash: string } | undefined {
  const [, id, hash] = /^1\.([0-9a-f]{32})\.([0-9a-f]{16})$/.exec(value) ?? []
  return id !== undefined && hash !== undefined ? { id, hash } : undefined
}

/** Whether a button was made for this request, with this content. */
export function belongsTo(button: { id: string; hash: string }, request: Pick<Request, 'id' | 'hash'>): boolean {
  return request.id === button.id && request.hash.startsWith(button.hash)
}
